/* Whether sanitizers watch: then tests do less of the same, and leave out what only compares qualities. */
#ifndef SX_TESTS_SUPPORT_SANITIZED_H
#define SX_TESTS_SUPPORT_SANITIZED_H

#ifdef __has_feature /* clang's way to tell */
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define SX_SANITIZER
#endif
#endif

#if defined(SX_SANITIZER) || defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
enum { SX_SANITIZED = 1 };
#else
enum { SX_SANITIZED = 0 };
#endif

#endif

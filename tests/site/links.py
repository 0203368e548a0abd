"""Follows every link of a site that stays in it: the page and the place in it must be there.

usage: links.py SITE
"""
import html.parser
import pathlib
import sys
import urllib.parse


class Page(html.parser.HTMLParser):
    def __init__(self, path):
        super().__init__()
        self.links, self.places = [], set()
        self.feed(path.read_text())

    def handle_starttag(self, tag, attrs):
        for name, value in attrs:
            if name == "id" or (name, tag) == ("name", "a"):
                self.places.add(value)
            if name in ("href", "src") and value:
                self.links.append(value)


site = pathlib.Path(sys.argv[1]).resolve()
pages = {path: Page(path) for path in sorted(site.rglob("*.html"))}
wrong = []
for path, page in pages.items():
    for link in page.links:
        parts = urllib.parse.urlsplit(link)
        if parts.scheme or parts.netloc:
            continue
        target = (path.parent / urllib.parse.unquote(parts.path)).resolve() if parts.path else path
        if not target.exists():
            wrong.append(f"{path.relative_to(site)}: {link} is not there")
        elif parts.fragment and target in pages and urllib.parse.unquote(parts.fragment) not in pages[target].places:
            wrong.append(f"{path.relative_to(site)}: {link}: the page has no such place")
print("\n".join(wrong))
print(f"{len(pages)} pages, {sum(len(page.links) for page in pages.values())} links, {len(wrong)} wrong")
sys.exit(bool(wrong) or len(pages) < 50)

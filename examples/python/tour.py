"""A tour of the Python package, in cells: open it in an editor that knows `# %%`, or run it as a program.

From the build tree: PYTHONPATH=python python3 examples/python/tour.py
"""
# %% An architecture and a problem: of the catalog, of files, or of text.
import sextant

arch = sextant.Arch("accel-b")
problem = sextant.Problem("O[m,n] += A[m,k]*B[k,n] {m:256,n:256,k:256}")
print(arch)
print(problem, problem.computes)

# %% The best mapping, and what is proven of it.
result = sextant.map(problem, arch, evals=20000)
print(f"{result.cycles} cycles, {result.energy_pj / 1e6:.2f} uJ, optimal: {result.optimal}")
print(result.mapping)

# %% Where its energy goes. In a notebook the figure is shown; `save` writes it.
cost = result.layers[0].cost()
for level in cost.levels:
    print(f"{level.name:6} {level.energy_pj / 1e6:9.3f} uJ")
figure = cost.plot("256x256x256 on accel-b")

# %% The map space: a sample of legal mappings and all their costs at once.
model = sextant.Model(problem, arch)
space = sextant.Space(model)
sample = space.sample(5000)
scores = model.evaluate_batch(sample)
best = min(range(len(scores)), key=lambda i: scores.edp[i])
print(f"best of {len(sample)} random mappings: {scores.edp[best] / result.edp:.1f} times the best found")


# %% A cost function of one's own: energy, but no mapping that uses less than half of the compute units.
def energy_if_busy(mapping, score):
    return score.energy_pj if score.utilization >= 0.5 else None


own = space.search(cost=energy_if_busy, evals=2000)
print(f"own cost: {own.best.value / 1e6:.2f} uJ at {own.best.score.utilization:.0%} utilization")


# %% A callback watches the search, and may stop it.
def watch(progress):
    return progress.evaluations < 200000


watched = space.search(mapper="random", evals=10**9, callback=watch)
print(f"stopped by {watched.stop}: {watched.evaluations >= 200000}")
convergence = watched.plot()

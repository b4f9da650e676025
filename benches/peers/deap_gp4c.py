"""GP4C with DEAP: a peer to measure freshet's own genetic programming against.

GP4C (Santos et al. 2013) evolves the formula by which a crawler ranks pages for its next visits. This is the protocol
as one would write it in Python: DEAP for the evolution, NumPy for a formula over all pages at once.

    pip install deap numpy
    python deap_gp4c.py --make sample.brdc --pages 4170 --cycles 57 --seed 1    # made-up pages
    python deap_gp4c.py sample.brdc                                             # one fold, one run
    python deap_gp4c.py sample.brdc --formula 'mul(t, X)'                       # no evolution: replay a formula

The input is what `freshet export --format brdc` writes: a line a page, character c is 1 if the page changed between
cycles c and c + 1. All pages are taken to be there from cycle 0 on. The output is JSON.
"""
import argparse
import json
import multiprocessing
import random
import statistics
import time
from collections import Counter
from copy import deepcopy
from functools import partial

import numpy as np
from deap import base, creator, gp, tools

FOLDS, WARM_UP, BUDGET, HALL_OF_FAME = 5, 2, 0.05, 50
WEIGHTS = {"cross": 90, "reproduce": 15, "replace": 5, "swap": 5}
LEAST_HEIGHT, HEIGHT, CROSSED_HEIGHT = 1, 9, 8  # of trees, in edges: one less than levels
HUGE, TINY, POWER = 1e12, 1e-9, 27.0
# Operands are within ±1e12, so results are never NaN or infinite, but for those that `where` throws away.
FUNCTIONS = {
    "add": (2, lambda a, b: np.add(a, b).clip(-HUGE, HUGE)),
    "sub": (2, lambda a, b: np.subtract(a, b).clip(-HUGE, HUGE)),
    "mul": (2, lambda a, b: np.multiply(a, b).clip(-HUGE, HUGE)),
    "div": (2, lambda a, b: np.where(np.abs(b) < TINY, 1.0, np.divide(a, b)).clip(-HUGE, HUGE)),
    "log": (1, lambda a: np.where(np.abs(a) < TINY, 0.0, np.log(np.abs(a)))),
    "exp": (1, lambda a: np.exp(np.minimum(a, POWER))),
    "pow": (2, lambda a, b: np.where(np.abs(a) < TINY, 0.0, np.exp((b * np.log(np.abs(a))).clip(-700.0, POWER)))),
}
PRIMITIVES = gp.PrimitiveSet("score", 3)
PRIMITIVES.renameArguments(ARG0="n", ARG1="X", ARG2="t")
for name, (arity, function) in FUNCTIONS.items():
    PRIMITIVES.addPrimitive(function, arity, name=name)
for constant in [0.001, 0.01, 0.1, 0.5, 1.0, 10.0, 100.0, 1000.0]:
    PRIMITIVES.addTerminal(constant)
creator.create("ChangeRate", base.Fitness, weights=(1.0,))
creator.create("Formula", gp.PrimitiveTree, fitness=creator.ChangeRate)
# By part (all, training, validation, test): how often each page had changed by each cycle, a row a cycle.
PARTS = {}  # each process holds them, so that only formulas travel


def best_pages(score, last, visits):
    """The best by score; of equal ones those left alone longest, then those with the lower index."""
    cut = np.partition(score, score.size - visits)[score.size - visits]
    above, tied = np.flatnonzero(score > cut), np.flatnonzero(score == cut)
    room = visits - above.size
    if tied.size > room:
        tied = tied[np.argsort(last[tied], kind="stable")[:room]]
    return np.concatenate((above, tied))


def replay(part, formula):
    """The share of visits that find a change (ChangeRate)."""
    score_of, changes = gp.compile(formula, PRIMITIVES), PARTS[part]
    cycles, pages = changes.shape
    visits, found = max(int(BUDGET * pages + 0.5), 1), 0
    n, t = np.full(pages, float(WARM_UP)), np.zeros(pages)
    x = (np.diff(changes[:WARM_UP + 1], axis=0) > 0).sum(axis=0, dtype=float)
    seen, last = changes[WARM_UP].copy(), np.full(pages, WARM_UP, np.int16)
    with np.errstate(all="ignore"):
        for cycle in range(WARM_UP + 1, cycles):
            t += 1.0
            score = score_of(n, x, t)
            if np.ndim(score) == 0:  # a formula of constants
                score = np.full(pages, score)
            chosen = best_pages(score, last, visits)
            now = changes[cycle, chosen]
            changed = now > seen[chosen]
            found += np.count_nonzero(changed)
            n[chosen] += 1.0
            x[chosen] += changed
            seen[chosen], last[chosen], t[chosen] = now, cycle, 0.0
    return found / (visits * (cycles - WARM_UP - 1))


def evaluate(mapper, spent, part, formulas):
    """Replays formulas, and keeps account of it."""
    began = time.perf_counter()
    rates = list(mapper(partial(replay, part), formulas))
    nodes = sum(map(len, formulas)) * PARTS[part][WARM_UP + 1:].size
    spent.update(seconds_evaluating=time.perf_counter() - began, evaluations=len(formulas), node_evaluations=nodes)
    return rates


def swap(tree):
    """Two subtrees change places, neither of them within the other."""
    one = tree.searchSubtree(random.randrange(len(tree)))
    others = [other for other in map(tree.searchSubtree, range(len(tree)))
              if other.start >= one.stop or other.stop <= one.start]
    if others:
        left, right = sorted((one, random.choice(others)), key=lambda subtree: subtree.start)
        tree[right], tree[left] = tree[left], tree[right]  # the right one first: it moves nothing on the left


def child(population):
    """A new formula, without a fitness; a parent, with its own, if nothing changed or the tree got too high."""
    kind = random.choices(list(WEIGHTS), list(WEIGHTS.values()))[0]
    parent, other = map(deepcopy, tools.selTournament(population, 2, tournsize=2))
    made = deepcopy(parent)
    if kind == "cross":
        gp.cxOnePoint(made, other)
    elif kind == "replace":
        gp.mutUniform(made, partial(gp.genHalfAndHalf, min_=0, max_=4), PRIMITIVES)
    elif kind == "swap":
        swap(made)
    if made == parent or made.height > (CROSSED_HEIGHT if kind == "cross" else HEIGHT):
        return parent
    del made.fitness.values
    return made


def evolve(evaluating, size, generations):
    """The hall of fame of all generations, the first of which is random."""
    hall = tools.HallOfFame(HALL_OF_FAME)
    population = [creator.Formula(gp.genHalfAndHalf(PRIMITIVES, LEAST_HEIGHT, HEIGHT)) for _ in range(size)]
    for generation in range(generations):
        if generation > 0:
            population = [deepcopy(hall[0])] + [child(population) for _ in range(size - 1)]
        invalid = [formula for formula in population if not formula.fitness.valid]
        for formula, rate in zip(invalid, evaluating("training", invalid)):
            formula.fitness.values = rate,
        hall.update(population)
    return list(hall)


def run(args):
    """Evolves on the training part, picks with the validation part (Avg), tests on one fold."""
    began = time.perf_counter()
    random.seed(args.seed)
    folds = np.array_split(np.random.default_rng(args.seed).permutation(PARTS["all"].shape[1]), FOLDS)
    test = folds.pop(args.fold)
    for part, pages in zip(("training", "validation", "test"), (*np.array_split(np.concatenate(folds), 2), test)):
        PARTS[part] = np.ascontiguousarray(PARTS["all"][:, np.sort(pages)])
    pool = multiprocessing.get_context("fork").Pool(args.processes) if args.processes > 1 else None
    spent = Counter()
    evaluating = partial(evaluate, partial(pool.map, chunksize=4) if pool else map, spent)
    hall = evolve(evaluating, args.population, args.generations)
    rates = [(formula.fitness.values[0], rate) for formula, rate in zip(hall, evaluating("validation", hall))]
    both, best = max(zip(rates, hall), key=lambda pair: statistics.mean(pair[0]) - statistics.stdev(pair[0]))
    tested = evaluating("test", [best])[0]
    if pool:
        pool.terminate()
    return {"seconds": time.perf_counter() - began, **spent,
            "training": both[0], "validation": both[1], "test": tested, "formula": str(best)}


def read(path):
    with open(path, encoding="utf-8") as file:
        lines = [line.split()[-1] for line in file]  # the older layout has site and page before the bits
    if set(map(len, lines)) != {len(lines[0])} or not set().union(*lines) <= set("01"):
        raise SystemExit(f"{path}: each line must be of as many characters, 0 or 1")
    bits = np.frombuffer("".join(lines).encode(), np.uint8).reshape(len(lines), -1).T - ord("0")
    return np.concatenate((np.zeros_like(bits[:1], np.int16), np.cumsum(bits, axis=0, dtype=np.int16)))


def make(path, pages, cycles, seed):
    """Half of the pages never change; the others' changes are Poisson, their rates log-normal."""
    draw = np.random.default_rng(seed)
    rates = np.where(draw.random(pages) < 0.5, 0.0, draw.lognormal(np.log(0.1), 1.5, pages))
    np.savetxt(path, draw.random((pages, cycles - 1)) < -np.expm1(-rates)[:, None], "%d", delimiter="")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", nargs="?", help="change bits, in BRDC form")
    for name, default, text in [
            ("seed", 1, "of the folds and the evolution, or of --make"), ("fold", 0, "from 0 on, the one to test on"),
            ("population", 300, "formulas of a generation"), ("generations", 50, "with the random first one"),
            ("processes", 1, "that evaluate"), ("pages", 4170, "of --make"), ("cycles", 57, "of --make")]:
        parser.add_argument(f"--{name}", type=int, metavar="N", default=default, help=f"{text} [{default}]")
    parser.add_argument("--formula", metavar="EXPR", help="replay this one on all pages, as the output writes it")
    parser.add_argument("--make", metavar="FILE", help="write made-up pages")
    args = parser.parse_args()
    if args.make:
        return make(args.make, args.pages, args.cycles, args.seed)
    if not args.file or args.fold not in range(FOLDS):
        parser.error(f"a file is wanted, or --make; folds are 0 to {FOLDS - 1}")
    PARTS["all"] = read(args.file)
    facts = dict(zip(("cycles", "pages"), PARTS["all"].shape))
    if args.formula:
        facts |= {"formula": args.formula, "change_rate": replay("all", args.formula)}
    else:
        names = ("seed", "fold", "population", "generations", "processes")
        facts |= {name: getattr(args, name) for name in names} | run(args)
    print(json.dumps(facts, indent=2))


if __name__ == "__main__":
    main()

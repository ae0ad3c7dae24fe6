/** Work of a model, above 0, and the engines that can do it, at least one. */
export interface SharedWork {
  readonly work: number;
  readonly engines: readonly string[];
}

/** Relative differences below this are rounding. */
const ROUNDING = 1e-12;

/**
 * Of all sets of models that with most work for each engine that any of them has: its models, its engines, and that work. Dinkelbach's
 * method (Management Science 13, 1967) over maximum flows: polynomial in models and engines.
 *
 * @param models at least one.
 */
export function busiestModels<Model extends SharedWork>(models: readonly Model[]) {
  let busiest = loadOf(models);
  for (;;) {
    const busier = beyond(models, busiest.utilisation);
    const found = busier.length === 0 ? busiest : loadOf(busier);
    if (found.utilisation <= busiest.utilisation * (1 + ROUNDING)) return busiest;
    busiest = found;
  }
}

function loadOf<Model extends SharedWork>(models: readonly Model[]) {
  const engines = new Set(models.flatMap((model) => model.engines));
  return { models, engines, utilisation: models.reduce((sum, { work }) => sum + work, 0) / engines.size };
}

/**
 * The models whose work exceeds most what their engines do together if each does `room`; none where all can be done. They are those that
 * a path without room for more leaves in a maximum flow of work to engines (Edmonds and Karp, Journal of the ACM 19, 1972).
 */
function beyond<Model extends SharedWork>(models: readonly Model[], room: number): readonly Model[] {
  const least = ROUNDING * room;
  const left = new Map(models.map((model) => [model, model.work]));
  const free = new Map(models.flatMap(({ engines }) => engines.map((engine) => [engine, room])));
  const done = new Map(models.map((model) => [model, new Map<string, number>()]));
  for (;;) {
    const open = models.filter((model) => (left.get(model) ?? 0) > least);
    const cameFrom = new Map<string, Model>();
    const movedFrom = new Map<Model, string>();
    const reached = new Set(open);
    let end: string | null = null;
    for (const model of reached) {
      for (const engine of model.engines) {
        if (cameFrom.has(engine)) continue;
        cameFrom.set(engine, model);
        if ((free.get(engine) ?? 0) > least) end ??= engine;
        for (const other of models) {
          if (reached.has(other) || (done.get(other)?.get(engine) ?? 0) <= least) continue;
          movedFrom.set(other, engine);
          reached.add(other);
        }
      }
      if (end !== null) break;
    }
    if (end === null) return [...reached];
    const path: { readonly model: Model; readonly engine: string; readonly gives: string | null }[] = [];
    for (let engine: string | null = end; engine !== null; ) {
      const model: Model | undefined = cameFrom.get(engine);
      if (model === undefined) break;
      const gives: string | null = movedFrom.get(model) ?? null;
      path.push({ model, engine, gives });
      engine = gives;
    }
    const first = path.at(-1)?.model;
    if (first === undefined) return [...reached];
    const given = path.flatMap(({ model, gives }) => (gives === null ? [] : [done.get(model)?.get(gives) ?? 0]));
    const amount = Math.min(left.get(first) ?? 0, free.get(end) ?? 0, ...given);
    left.set(first, (left.get(first) ?? 0) - amount);
    free.set(end, (free.get(end) ?? 0) - amount);
    for (const { model, engine, gives } of path) {
      const own = done.get(model);
      own?.set(engine, (own.get(engine) ?? 0) + amount);
      if (gives !== null) own?.set(gives, (own.get(gives) ?? 0) - amount);
    }
  }
}

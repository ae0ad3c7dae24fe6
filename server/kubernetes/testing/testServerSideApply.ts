/** JSON in an API server's stored form. */
export type Fields = { [key: string]: unknown };

/** A field by its steps as `fieldsV1` writes them: `f:name`, or `k:{"name":"x"}` for an item of a list that is a map. */
type Path = readonly string[];

interface ManagedFields {
  readonly manager: string;
  readonly operation: "Apply" | "Update";
  readonly apiVersion: string;
  readonly time: string;
  readonly fieldsType: "FieldsV1";
  readonly fieldsV1: Fields;
  readonly subresource?: string;
}

export interface Owner {
  readonly manager: string;
  readonly operation: "Apply" | "Update";
  readonly subresource?: string;
}

export interface Conflict {
  readonly manager: string;
  readonly field: string;
}

/** Lists that are maps, with the keys of their items; every other list belongs to one manager as a whole. */
const listKeys: Readonly<Record<string, readonly (readonly string[])[]>> = {
  containers: [["name"]],
  initContainers: [["name"]],
  env: [["name"]],
  volumes: [["name"]],
  volumeMounts: [["mountPath"]],
  conditions: [["type"]],
  ports: [
    ["containerPort", "protocol"],
    ["port", "protocol"],
  ],
  ownerReferences: [["uid"]],
};

const isFields = (value: unknown): value is Fields => typeof value === "object" && value !== null && !Array.isArray(value);

function keysOf(name: string, value: unknown): readonly string[] | null {
  if (!Array.isArray(value) || value.length === 0) return null;
  return (listKeys[name] ?? []).find((keys) => value.every((item) => isFields(item) && keys.every((key) => key in item))) ?? null;
}

const step = (item: Fields, keys: readonly string[]): string =>
  `k:${JSON.stringify(Object.fromEntries(keys.map((key) => [key, item[key]])))}`;

const notOwned = ["apiVersion", "kind"];
const notOwnedOfMetadata = [
  ...["name", "namespace", "uid", "resourceVersion", "generation", "creationTimestamp", "managedFields", "deletionTimestamp"],
  "deletionGracePeriodSeconds",
];

/** Every field of an object that a manager can own, with its value. */
function leaves(object: Fields): Map<string, { readonly path: Path; readonly value: unknown }> {
  const found = new Map<string, { path: Path; value: unknown }>();
  const walk = (value: unknown, path: Path, name: string): void => {
    const keys = keysOf(name, value);
    if (keys !== null) for (const item of value as Fields[]) walk(item, [...path, step(item, keys)], "");
    else if (isFields(value) && Object.keys(value).length > 0) {
      for (const [key, part] of Object.entries(value)) {
        const hidden = (path.length === 0 && notOwned.includes(key)) || (path.join() === "f:metadata" && notOwnedOfMetadata.includes(key));
        if (!hidden) walk(part, [...path, `f:${key}`], key);
      }
    } else if (path.length > 0) found.set(path.join("/"), { path, value });
  };
  walk(object, [], "");
  return found;
}

const fieldText = (path: Path): string =>
  path
    .map((one) => {
      if (one.startsWith("f:")) return `.${one.slice(2)}`;
      const keys = Object.entries(JSON.parse(one.slice(2)) as Fields);
      return `[${keys.map(([key, value]) => `${key}=${JSON.stringify(value)}`).join(",")}]`;
    })
    .join("");

function asFieldsV1(paths: Iterable<Path>): Fields {
  const root: Fields = {};
  for (const path of paths) {
    let at = root;
    for (const one of path) {
      at[one] ??= {};
      at = at[one] as Fields;
    }
  }
  return root;
}

function pathsOf(fields: Fields, before: Path = []): readonly Path[] {
  const entries = Object.entries(fields);
  if (entries.length === 0) return before.length === 0 ? [] : [before];
  return entries.flatMap(([key, part]) => pathsOf(part as Fields, [...before, key]));
}

const managed = (object: Fields): readonly ManagedFields[] =>
  ((object.metadata as Fields | undefined)?.managedFields as ManagedFields[] | undefined) ?? [];

const sameOwner = (a: Owner, b: Owner): boolean =>
  a.manager === b.manager && a.operation === b.operation && a.subresource === b.subresource;

function withOwner(object: Fields, owner: Owner, change: (paths: Map<string, Path>) => void, takenFromOthers: ReadonlySet<string>): Fields {
  const time = new Date().toISOString();
  const apiVersion = String(object.apiVersion);
  const entries = [...managed(object)];
  if (!entries.some((one) => sameOwner(one, owner))) entries.push({ ...owner, apiVersion, time, fieldsType: "FieldsV1", fieldsV1: {} });
  const managedFields = entries.flatMap((one) => {
    const paths = new Map(pathsOf(one.fieldsV1).map((path) => [path.join("/"), path]));
    if (sameOwner(one, owner)) change(paths);
    else for (const key of takenFromOthers) paths.delete(key);
    return paths.size === 0 ? [] : [{ ...one, fieldsV1: asFieldsV1(paths.values()) }];
  });
  return { ...object, metadata: { ...(object.metadata as Fields), managedFields } };
}

/** Merges what a manager applies into an object: maps and keyed lists part by part, the rest as a whole. */
function merge(base: unknown, applied: unknown, name: string): unknown {
  const keys = keysOf(name, applied);
  if (keys !== null && Array.isArray(base)) {
    const at = (item: Fields) => step(item, keys);
    const rest = (applied as Fields[]).filter((item) => !(base as Fields[]).some((one) => at(one) === at(item)));
    const kept = (base as Fields[]).map((one) => {
      const item = (applied as Fields[]).find((other) => at(other) === at(one));
      return item === undefined ? one : merge(one, item, "");
    });
    return [...kept, ...rest];
  }
  if (!isFields(base) || !isFields(applied)) return structuredClone(applied);
  return { ...base, ...Object.fromEntries(Object.entries(applied).map(([key, part]) => [key, merge(base[key], part, key)])) };
}

function without(value: unknown, [first = "", ...rest]: Path): unknown {
  if (Array.isArray(value)) {
    const keys = Object.keys(JSON.parse(first.slice(2)) as Fields);
    const items = value.map((item) =>
      step(item as Fields, keys) === first ? (rest.length === 0 ? undefined : without(item, rest)) : item,
    );
    // An item with only its keys left has no owner any more.
    return items.filter((item) => item !== undefined && !(isFields(item) && Object.keys(item).length === 0));
  }
  if (!isFields(value)) return value;
  const key = first.slice(2);
  const { [key]: part, ...others } = value;
  return rest.length === 0 || part === undefined ? others : { ...others, [key]: without(part, rest) };
}

/** Server-side apply as documented: conflicts if others own a field with another value, unless by force; omitted fields are given up. */
export function serverSideApply(
  live: Fields | null,
  applied: Fields,
  { manager, force }: { readonly manager: string; readonly force: boolean },
): { readonly object: Fields } | { readonly conflicts: readonly Conflict[] } {
  const owner: Owner = { manager, operation: "Apply" };
  const wanted = leaves(applied);
  const standing = live === null ? new Map<string, { value: unknown }>() : leaves(live);
  const others = live === null ? [] : managed(live).filter((one) => !sameOwner(one, owner));
  const conflicts = others.flatMap((one) =>
    pathsOf(one.fieldsV1).flatMap((path): readonly Conflict[] => {
      const key = path.join("/");
      const want = wanted.get(key);
      const differs = want !== undefined && JSON.stringify(want.value) !== JSON.stringify(standing.get(key)?.value);
      return differs ? [{ manager: one.manager, field: fieldText(path) }] : [];
    }),
  );
  if (conflicts.length > 0 && !force) return { conflicts };
  const ownedByOthers = new Set(others.flatMap((one) => pathsOf(one.fieldsV1).map((path) => path.join("/"))));
  let object = merge(live ?? {}, applied, "") as Fields;
  const mine = live === null ? undefined : managed(live).find((one) => sameOwner(one, owner));
  for (const path of mine === undefined ? [] : pathsOf(mine.fieldsV1)) {
    if (!wanted.has(path.join("/")) && !ownedByOthers.has(path.join("/"))) object = without(object, path) as Fields;
  }
  const lost = new Set(
    conflicts.map(({ field }) => [...wanted.values()].find(({ path }) => fieldText(path) === field)?.path.join("/") ?? ""),
  );
  const own = (paths: Map<string, Path>) => {
    paths.clear();
    for (const [key, { path }] of wanted) paths.set(key, path);
  };
  return { object: withOwner(object, owner, own, lost) };
}

/** A plain write: the fields it changed belong to its writer from now on. */
export function ownChanges(before: Fields | null, after: Fields, owner: Owner): Fields {
  const old = before === null ? new Map<string, { value: unknown }>() : leaves(before);
  const changed = [...leaves(after)].filter(([key, { value }]) => JSON.stringify(old.get(key)?.value) !== JSON.stringify(value));
  if (changed.length === 0) return after;
  const own = (paths: Map<string, Path>) => {
    for (const [key, { path }] of changed) paths.set(key, path);
  };
  return withOwner(after, owner, own, new Set(changed.map(([key]) => key)));
}

import { randomUUID } from "node:crypto";
import { type Fields, type Owner, ownChanges, serverSideApply } from "./testServerSideApply";

interface Meta extends Fields {
  name: string;
  namespace?: string;
  uid: string;
  resourceVersion: string;
  generation: number;
  labels?: Record<string, string>;
  finalizers?: string[];
  deletionTimestamp?: string;
}

export type Kept = Fields & { apiVersion: string; kind: string; metadata: Meta };

export interface Change {
  readonly type: "ADDED" | "MODIFIED" | "DELETED";
  readonly collection: string;
  readonly object: Kept;
}

/** An error in an API server's form. */
export class StatusError extends Error {
  constructor(
    readonly code: number,
    readonly reason: string,
    message: string,
    readonly causes: readonly { readonly reason: string; readonly message: string; readonly field: string }[] = [],
  ) {
    super(message);
  }
}

export interface Write {
  readonly dryRun: boolean;
  readonly owner: Owner;
  /** Only this part is written. */
  readonly subresource?: "status";
}

const foreground = "foregroundDeletion";

/** Objects by collection and name, with resource versions, generations, finalizers and the changes since the beginning. */
export class ObjectStore {
  readonly changes: Change[] = [];
  private readonly kept = new Map<string, Map<string, Kept>>();
  private readonly listeners = new Set<(change: Change) => void>();
  private version = 1;
  /** Ports of this process only, since stand-ins of other test files run in parallel. */
  private nodePort = 30_000 + (process.pid % 50) * 54;

  get resourceVersion(): string {
    return String(this.version);
  }

  onChange(listener: (change: Change) => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  list(collection: string, namespace: string | null): readonly Kept[] {
    const all = [...(this.kept.get(collection)?.values() ?? [])];
    return all.filter(({ metadata }) => namespace === null || metadata.namespace === namespace);
  }

  get(collection: string, namespace: string | null, name: string): Kept {
    const found = this.kept.get(collection)?.get(`${namespace ?? ""}/${name}`);
    if (found === undefined) throw new StatusError(404, "NotFound", `${collection} "${name}" not found`);
    return found;
  }

  create(collection: string, object: Fields, write: Write): Kept {
    const { name, namespace } = object.metadata as Meta;
    if (this.kept.get(collection)?.has(`${namespace ?? ""}/${name}`))
      throw new StatusError(409, "AlreadyExists", `${collection} "${name}" already exists`);
    // The creator does not write the status, except on nodes, which report themselves.
    const { status, ...rest } = object;
    const plain = collection === "nodes" && status !== undefined ? { ...rest, status } : rest;
    return this.keep(collection, null, ownChanges(null, plain, write.owner), write);
  }

  update(collection: string, object: Fields, write: Write): Kept {
    const { name, namespace, resourceVersion } = object.metadata as Meta;
    const live = this.get(collection, namespace ?? null, name);
    if (resourceVersion !== undefined && resourceVersion !== live.metadata.resourceVersion)
      throw new StatusError(
        409,
        "Conflict",
        `Operation cannot be fulfilled on ${collection} "${name}": the object has been modified; please apply your changes to the latest version and try again`,
      );
    const after = write.subresource === "status" ? { ...live, status: object.status } : { ...object, status: live.status };
    const owner = write.subresource === undefined ? write.owner : { ...write.owner, subresource: write.subresource };
    return this.keep(collection, live, ownChanges(live, after, owner), write);
  }

  apply(collection: string, applied: Fields, { dryRun, force, manager }: { dryRun: boolean; force: boolean; manager: string }) {
    const { name, namespace } = applied.metadata as Meta;
    const live = this.kept.get(collection)?.get(`${namespace ?? ""}/${name}`) ?? null;
    const { status: _, ...wanted } = applied;
    const result = serverSideApply(live, wanted, { manager, force });
    if ("conflicts" in result) {
      const causes = result.conflicts.map((one) => ({
        reason: "FieldManagerConflict",
        message: `conflict with "${one.manager}"`,
        field: one.field,
      }));
      const many = `Apply failed with ${causes.length} conflict${causes.length === 1 ? "" : "s"}`;
      throw new StatusError(409, "Conflict", `${many}: ${causes.map((one) => `${one.message}: ${one.field}`).join(", ")}`, causes);
    }
    const object = this.keep(collection, live, result.object, { dryRun, owner: { manager, operation: "Apply" } });
    return { object, created: live === null };
  }

  remove(collection: string, live: Kept, { grace, policy, uid }: { grace: number | null; policy: string; uid: string | undefined }): Kept {
    const { metadata } = live;
    if (uid !== undefined && uid !== metadata.uid)
      throw new StatusError(409, "Conflict", `the UID in the precondition (${uid}) does not match the UID in record (${metadata.uid})`);
    const finalizers = new Set(metadata.finalizers ?? []);
    if (policy === "Foreground") finalizers.add(foreground);
    const running = collection === "pods" && (live.spec as Fields | undefined)?.nodeName !== undefined && grace !== 0;
    if (finalizers.size === 0 && !running) {
      this.drop(collection, live);
      return live;
    }
    if (metadata.deletionTimestamp !== undefined) return live;
    const deleting = { ...metadata, finalizers: [...finalizers], deletionTimestamp: new Date().toISOString() };
    return this.keep(
      collection,
      live,
      { ...live, metadata: deleting },
      { dryRun: false, owner: { manager: "server", operation: "Update" } },
    );
  }

  private keep(collection: string, live: Kept | null, object: Fields, { dryRun }: Write): Kept {
    const given = object.metadata as Meta;
    const same = live !== null && sameBesideTimes(live, object);
    if (same && live !== null) return live;
    const specChanged = live !== null && JSON.stringify(live.spec) !== JSON.stringify(object.spec);
    const metadata: Meta = {
      ...given,
      uid: live?.metadata.uid ?? randomUUID(),
      creationTimestamp: live?.metadata.creationTimestamp ?? new Date().toISOString(),
      generation: live === null ? 1 : live.metadata.generation + (specChanged ? 1 : 0),
      resourceVersion: dryRun ? (live?.metadata.resourceVersion ?? "") : String(this.version + 1),
    };
    const kept = this.withDefaults(collection, { ...object, metadata } as Kept);
    if (dryRun) return kept;
    this.version += 1;
    const all = this.kept.get(collection) ?? new Map<string, Kept>();
    this.kept.set(collection, all);
    const key = `${metadata.namespace ?? ""}/${metadata.name}`;
    if (live !== null && metadata.deletionTimestamp !== undefined && (metadata.finalizers ?? []).length === 0 && collection !== "pods") {
      this.drop(collection, kept);
      return kept;
    }
    all.set(key, kept);
    this.tell({ type: live === null ? "ADDED" : "MODIFIED", collection, object: kept });
    return kept;
  }

  private drop(collection: string, live: Kept): void {
    this.version += 1;
    this.kept.get(collection)?.delete(`${live.metadata.namespace ?? ""}/${live.metadata.name}`);
    const metadata = { ...live.metadata, resourceVersion: String(this.version) };
    this.tell({ type: "DELETED", collection, object: { ...live, metadata } });
  }

  private tell(change: Change): void {
    this.changes.push(change);
    for (const listener of this.listeners) listener(change);
  }

  /** Node ports are assigned once. */
  private withDefaults(collection: string, object: Kept): Kept {
    const spec = object.spec as (Fields & { type?: string; ports?: Fields[] }) | undefined;
    if (collection !== "services" || spec?.type !== "NodePort" || spec.ports?.every((port) => "nodePort" in port)) return object;
    const ports = spec.ports?.map((port) => {
      this.nodePort += 1;
      return { nodePort: this.nodePort, ...port };
    });
    return { ...object, spec: { ...spec, ports } };
  }
}

const sameBesideTimes = (a: Fields, b: Fields): boolean => withoutTimes(a) === withoutTimes(b);

function withoutTimes(object: Fields): string {
  const { managedFields, resourceVersion: _, generation: __, ...metadata } = object.metadata as Meta;
  const owners = (managedFields as { time: string }[] | undefined)?.map(({ time: ___, ...rest }) => rest);
  return JSON.stringify({ ...object, metadata: Object.fromEntries(Object.entries({ ...metadata, owners }).sort()) }, sortKeys);
}

const sortKeys = (_: string, value: unknown): unknown =>
  typeof value === "object" && value !== null && !Array.isArray(value) ? Object.fromEntries(Object.entries(value).sort()) : value;

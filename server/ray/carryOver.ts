import type { ServeApplication, ServeState } from "./serveState";

/** The changes of a PUT; everything else is unchanged. */
export interface ServeEdit {
  readonly remove?: string;
  /** An application's configuration, as JSON. */
  readonly add?: { readonly name: string; readonly config: string };
  /** Where Serve must listen, which only has an effect if it does not run yet. */
  readonly http?: { readonly host: string; readonly port: number };
}

/** The body of a PUT and the applications in it apart from the added one; or why there can be none, now or ever. */
export type Carried =
  | { readonly body: string; readonly kept: readonly string[] }
  | { readonly waiting: string }
  | { readonly failed: string };

/**
 * The body of `PUT /api/serve/applications/`, which removes every application that it does not list: all that Ray shows, each exactly as
 * Ray wrote it, with one changed. Refused if Ray does not show everything that the body must contain.
 */
export function carryOver(state: ServeState, { remove, add, http }: ServeEdit): Carried {
  const others = state.applications.filter(({ name }) => name !== remove && name !== add?.name).filter(stays);
  const lost = others.find(({ config, hidden }) => config === null || hidden);
  if (lost !== undefined) {
    const what = lost.hidden ? "the values of its environment" : "its configuration";
    return { failed: `Ray does not show ${what} for the application ${lost.name}, which would be lost by changing any other.` };
  }
  const building = others.find(isBeingBuilt);
  if (building !== undefined) return { waiting: `Ray builds the application ${building.name}, which would start again` };
  const configs = [...others.map(({ config }) => config ?? ""), ...(add === undefined ? [] : [add.config])];
  const settings = [...state.settings, ...(http === undefined ? [] : [["http_options", JSON.stringify(http)] as const])];
  const members = [...settings.map(([name, value]) => `${JSON.stringify(name)}: ${value}`), `"applications": [${configs.join(", ")}]`];
  return { body: `{${members.join(", ")}}`, kept: others.map(({ name }) => name) };
}

/** A PUT does not affect applications of Ray's Python API; the deletion of others continues. */
const stays = ({ imperative, status }: ServeApplication): boolean => !imperative && status !== "DELETING";

/** A PUT aborts the import and build of an application, even one with the same configuration, and restarts it. */
const isBeingBuilt = ({ status, deployments }: ServeApplication): boolean => status === "DEPLOYING" && deployments.length === 0;

/** The applications in a PUT that are missing after it; and those added by others just before it that it removes. */
export function lostBy(
  before: ServeState,
  kept: readonly string[],
  { removed, after }: { removed: string | undefined; after: ServeState },
): readonly string[] {
  const statusAfter = new Map(after.applications.map(({ name, status }) => [name, status]));
  const gone = kept.filter((name) => !statusAfter.has(name) || statusAfter.get(name) === "DELETING");
  const known = new Set(before.applications.map(({ name }) => name));
  const swept = after.applications.filter(({ name, status }) => status === "DELETING" && !known.has(name) && name !== removed);
  return [...gone, ...swept.map(({ name }) => name)];
}

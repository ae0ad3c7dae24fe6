const KEY = "weir_cluster";

/** Keeps which cluster was looked at last, for pages whose address names none. Where the browser keeps nothing it is forgotten. */
export function keepLastCluster(id: string): void {
  try {
    window.localStorage.setItem(KEY, id);
  } catch {
    // Storage may be switched off: then the first real cluster is spoken of.
  }
}

/** The cluster that was looked at last; null where none is known. */
export function lastCluster(): string | null {
  try {
    return window.localStorage.getItem(KEY);
  } catch {
    return null;
  }
}

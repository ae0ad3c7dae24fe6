const KEY = "weir_cluster";

/** Remembers the last displayed cluster, for pages whose address names none. Without browser storage it is forgotten. */
export function keepLastCluster(id: string): void {
  try {
    window.localStorage.setItem(KEY, id);
  } catch {
    // Storage may be switched off: then the first real cluster is the current one.
  }
}

/** The last displayed cluster; null where none is known. */
export function lastCluster(): string | null {
  try {
    return window.localStorage.getItem(KEY);
  } catch {
    return null;
  }
}

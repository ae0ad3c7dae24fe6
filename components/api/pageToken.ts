/** The page token of this origin's session: storage is per port, while cookies reach every port of a host. */
const storageKey = "weir.pageToken";

/** Header in which the studio expects it. */
const header = "x-weir-page-token";

export const pageToken = (): string | null => window.localStorage.getItem(storageKey);

export function keepPageToken(token: string): void {
  window.localStorage.setItem(storageKey, token);
}

/** Headers that a request to the studio needs besides its cookie. */
export function pageHeaders(): Record<string, string> {
  const token = pageToken();
  return token === null ? {} : { [header]: token };
}

/** Calls back when another tab signs in or out. */
export function onPageToken(listener: () => void): () => void {
  const heard = ({ key }: StorageEvent): void => {
    if (key === storageKey || key === null) listener();
  };
  window.addEventListener("storage", heard);
  return () => window.removeEventListener("storage", heard);
}

export function forgetPageToken(): void {
  window.localStorage.removeItem(storageKey);
}

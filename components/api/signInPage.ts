import { forgetPageToken } from "./pageToken";

/** Where the page that was asked for before signing in is kept: the printed link then leads there, in whatever tab it is opened. */
const storageKey = "weir.wanted";
const keptMs = 3_600_000;

/** Whether a call was refused because nobody is signed in. */
export const isSignedOut = (error: unknown): boolean =>
  (error as { readonly data?: { readonly code?: string } | null }).data?.code === "UNAUTHORIZED";

/** Whether this page is being left by signing out: calls that are refused meanwhile must not lead elsewhere. */
let leaving = false;

/** Leaves the page of a session that was ended. */
export function toSignedOut(): void {
  leaving = true;
  forgetPageToken();
  window.location.assign("/sign-in?reason=signed-out");
}

/** Goes to the sign-in page and keeps the address of this one. */
export function toSignIn(): void {
  const { pathname, search } = window.location;
  if (leaving || pathname === "/sign-in") return;
  forgetPageToken();
  window.localStorage.setItem(storageKey, JSON.stringify({ address: `${pathname}${search}`, atMs: Date.now() }));
  window.location.replace("/sign-in");
}

/** The page that was asked for before signing in, once; null where there is none or it was long ago. */
export function takeWantedPage(): string | null {
  const kept = window.localStorage.getItem(storageKey);
  window.localStorage.removeItem(storageKey);
  return kept === null ? null : wantedPage(kept, Date.now());
}

/** The address in what was kept: a path of this studio with its query; null where it is an address elsewhere, or too old. */
export function wantedPage(kept: string, nowMs: number): string | null {
  try {
    const { address, atMs } = JSON.parse(kept) as { readonly address: unknown; readonly atMs: unknown };
    if (typeof address !== "string" || typeof atMs !== "number" || nowMs - atMs > keptMs) return null;
    const here = "http://studio.invalid";
    const { origin, pathname, search } = new URL(address, here);
    const elsewhere = origin !== here || pathname.startsWith("//") || /^\/(api|sign-in)(\/|$)/.test(pathname);
    return elsewhere || !address.startsWith("/") ? null : `${pathname}${search}`;
  } catch {
    return null;
  }
}

/** Cookie in which the browser keeps the page that was asked for before signing in. It is written by the page itself, so it is no secret. */
const WANTED_COOKIE = "weir_wanted";
const KEPT_SECONDS = 3600;

/** Browsers drop cookies of more than 4 KB; a longer address is not kept. */
const MOST_CHARACTERS = 3800;

/** A cookie that keeps the page of an address, as `document.cookie` takes it; null where it is too long. */
export function wantedCookie(address: string): string | null {
  const value = encodeURIComponent(address);
  return value.length > MOST_CHARACTERS ? null : `${WANTED_COOKIE}=${value}; Path=/; SameSite=Lax; Max-Age=${KEPT_SECONDS}`;
}

/** `Set-Cookie` that forgets it. */
export const wantedForgotten = `${WANTED_COOKIE}=; Path=/; SameSite=Lax; Max-Age=0`;

/** The page in a `Cookie` header: a path of this studio's with its query; null where there is none, or an address elsewhere. */
export function returnPage(cookieHeader: string | null): string | null {
  for (const pair of (cookieHeader ?? "").split(";")) {
    const [name, value] = pair.trim().split("=", 2);
    if (name !== WANTED_COOKIE || value === undefined) continue;
    try {
      const here = "http://studio.invalid";
      const address = new URL(decodeURIComponent(value), here);
      const { pathname, search } = address;
      const elsewhere = address.origin !== here || pathname.startsWith("//") || /^\/(api|sign-in)(\/|$)/.test(pathname);
      return elsewhere || !decodeURIComponent(value).startsWith("/") ? null : `${pathname}${search}`;
    } catch {
      return null;
    }
  }
  return null;
}

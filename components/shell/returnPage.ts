/** Cookie in which the browser stores the page that was requested before signing in. The page itself writes it, so it is no secret. */
const WANTED_COOKIE = "weir_wanted";
const KEPT_SECONDS = 3600;

/** Browsers drop cookies of more than 4 KB; a longer address is not kept. */
const MOST_CHARACTERS = 3800;

/** A cookie that stores the page of an address, in the form of `document.cookie`; null where it is too long. */
export function wantedCookie(address: string): string | null {
  const value = encodeURIComponent(address);
  return value.length > MOST_CHARACTERS ? null : `${WANTED_COOKIE}=${value}; Path=/; SameSite=Lax; Max-Age=${KEPT_SECONDS}`;
}

/** `Set-Cookie` that clears it. */
export const wantedForgotten = `${WANTED_COOKIE}=; Path=/; SameSite=Lax; Max-Age=0`;

/** The page in a `Cookie` header: a path of this studio with its query; null where there is none, or it is an address elsewhere. */
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

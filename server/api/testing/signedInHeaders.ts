import { pageTokenHeader } from "@/server/auth/identify";
import { sessionCookie } from "@/server/auth/sessionCookie";
import type { Runtime } from "@/server/runtime";

/** The token in a sign-in link. */
export const tokenOf = (link: string): string => new URLSearchParams(new URL(link).hash.slice(1)).get("token") ?? "";

/** Headers of a browser that signed in at a studio with its printed link. */
export function signedInHeaders(runtime: Runtime): { readonly cookie: string; readonly [pageTokenHeader]: string } {
  const session = runtime.signIn(tokenOf(runtime.signInLink()));
  if (session === null) throw new Error("The link of the studio was refused.");
  return { cookie: sessionCookie(session.cookieSecret, false).split(";")[0] ?? "", [pageTokenHeader]: session.pageToken };
}

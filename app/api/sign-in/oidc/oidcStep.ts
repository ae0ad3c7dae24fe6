import type { OidcSignIn, SignInStep } from "@/server/auth/oidc/oidcSignIn";
import { runtime } from "@/server/runtime";

/** A step of a sign-in, as a redirect. It is a page that the browser opens in a tab: no image, frame or script of a site takes one. */
export async function oidcStep(request: Request, take: (oidc: OidcSignIn) => Promise<SignInStep>): Promise<Response> {
  const { oidc } = runtime();
  if (oidc === null) return refuse(404, "Sign-in by OIDC is not configured.");
  if ((request.headers.get("sec-fetch-dest") ?? "document") !== "document") return refuse(403, "Open this address in a tab.");
  const { location, setCookie } = await take(oidc);
  return new Response(null, { status: 302, headers: { location, "set-cookie": setCookie, "cache-control": "no-store" } });
}

export const notServed = (): Response => new Response(null, { status: 405, headers: { allow: "GET" } });

const refuse = (status: number, message: string): Response => Response.json({ message }, { status });

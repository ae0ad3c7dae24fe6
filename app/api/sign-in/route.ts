import { returnPage, wantedForgotten } from "@/components/shell/returnPage";
import { sessionCookie } from "@/server/auth/sessionCookie";
import { isSecure } from "@/server/lib/verifiedHeaders";
import { runtime } from "@/server/runtime";

export const dynamic = "force-dynamic";

/** The printed link: exchanges its token for a session, once, and redirects to the page that was requested before. */
export function GET(request: Request): Response {
  const secret = runtime().signIn(new URL(request.url).searchParams.get("token") ?? "");
  if (secret === null) return seeOther("/sign-in?reason=used");
  const response = seeOther(returnPage(request.headers.get("cookie")) ?? "/plan", {
    "set-cookie": sessionCookie(secret, isSecure(request.headers)),
  });
  response.headers.append("set-cookie", wantedForgotten);
  return response;
}

/** A relative address: behind a proxy the studio does not know its own host and port. */
const seeOther = (location: string, headers: Record<string, string> = {}): Response =>
  new Response(null, { status: 303, headers: { location, "cache-control": "no-store", "referrer-policy": "no-referrer", ...headers } });

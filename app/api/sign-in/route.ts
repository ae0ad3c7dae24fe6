import { returnPage, wantedForgotten } from "@/components/shell/returnPage";
import { sessionCookie } from "@/server/auth/sessionCookie";
import { runtime } from "@/server/runtime";

export const dynamic = "force-dynamic";

/** The printed link: trades its token for a session, once, and leads to the page that was asked for before. */
export function GET(request: Request): Response {
  const secret = runtime().signIn(new URL(request.url).searchParams.get("token") ?? "");
  if (secret === null) return seeOther("/sign-in?reason=used");
  const response = seeOther(returnPage(request.headers.get("cookie")) ?? "/plan", { "set-cookie": sessionCookie(secret) });
  response.headers.append("set-cookie", wantedForgotten);
  return response;
}

/** A relative address: behind another name or port the studio would not know its own. */
const seeOther = (location: string, headers: Record<string, string> = {}): Response =>
  new Response(null, { status: 303, headers: { location, "cache-control": "no-store", "referrer-policy": "no-referrer", ...headers } });

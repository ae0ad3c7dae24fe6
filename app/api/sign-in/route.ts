import { z } from "zod";
import { isSameOrigin } from "@/server/auth/sameOrigin";
import { sessionCookie } from "@/server/auth/sessionCookie";
import { readBoundedText } from "@/server/lib/boundedBody";
import { clientAddressOf, isSecure } from "@/server/lib/verifiedHeaders";
import { runtime } from "@/server/runtime";

export const dynamic = "force-dynamic";

const tokenSchema = z.object({ token: z.string().min(1).max(200) });

/** A token takes some 60 bytes; strangers may post here. */
const limits = { maxBytes: 1_000, json: { depth: 2, nodes: 10, commas: 10 } };

/**
 * Trades the token of a sign-in link for a session, once: the cookie, and in the body the page token, which is given out here and nowhere
 * else.
 */
export async function POST(request: Request): Promise<Response> {
  const { signIn, services } = runtime();
  if (!isSameOrigin(request.headers)) return refuse(403, "The request came from another site and was refused.");
  if (!/^application\/json\b/i.test(request.headers.get("content-type") ?? "")) return refuse(415, "Send application/json.");
  const body = await readBoundedText(request.body, limits);
  if (body === null) return refuse(413, "The request is too large.");
  const input = tokenSchema.safeParse(parsed(body));
  if (!input.success) return refuse(400, "Send the token of a sign-in link.");
  const session = signIn(input.data.token);
  if (session === null) {
    const message = "The link was already used or has expired.";
    const address = clientAddressOf(request.headers);
    services.audit.refused({ actor: "nobody", address, action: "sign-in", subject: "session", objectKind: "session", detail: message });
    return refuse(401, message);
  }
  return Response.json(
    { pageToken: session.pageToken },
    { headers: { "set-cookie": sessionCookie(session.cookieSecret, isSecure(request.headers)), "cache-control": "no-store" } },
  );
}

function parsed(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch {
    return null;
  }
}

const refuse = (status: number, message: string): Response => Response.json({ message }, { status });

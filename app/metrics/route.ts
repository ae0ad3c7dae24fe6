import { runtime } from "@/server/runtime";

export const dynamic = "force-dynamic";

/** The studio's own metrics for Prometheus. Open without signing in, as the gateway's are: there is no name and no secret in them. */
export async function GET(): Promise<Response> {
  const { text, contentType } = await runtime().metrics();
  return new Response(text, { headers: { "content-type": contentType, "cache-control": "no-store" } });
}

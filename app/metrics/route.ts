import { runtime } from "@/server/runtime";

export const dynamic = "force-dynamic";

/** The studio's own metrics for Prometheus. Open without signing in, like the gateway's: they hold no names and no secrets. */
export async function GET(): Promise<Response> {
  const { text, contentType } = await runtime().metrics();
  return new Response(text, { headers: { "content-type": contentType, "cache-control": "no-store" } });
}

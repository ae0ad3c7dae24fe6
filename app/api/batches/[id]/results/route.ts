import type { BatchResult } from "@/server/contracts/studio";
import { textStream } from "@/server/lib/textStream";
import { routeAccess } from "@/server/routeAccess";
import { runtime } from "@/server/runtime";

export const dynamic = "force-dynamic";

/** Downloads the results of a batch so far as JSON lines, in the order of its prompts, streamed from the store. */
export async function GET(request: Request, { params }: { params: Promise<{ id: string }> }): Promise<Response> {
  const access = routeAccess(request, "prepare");
  if (!access.ok) return access.refusal;
  const { id } = await params;
  const results = runtime().services.batches.results(id);
  if (results === null) return Response.json({ message: `There is no batch ${id}.` }, { status: 404 });
  return new Response(textStream(lines(results)), {
    headers: {
      "content-type": "application/jsonl; charset=utf-8",
      "content-disposition": `attachment; filename="batch-${id.slice(0, 8)}.jsonl"`,
    },
  });
}

function* lines(results: Iterable<BatchResult>): Generator<string> {
  for (const result of results) yield `${JSON.stringify(result)}\n`;
}

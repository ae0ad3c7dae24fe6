import { textStream } from "@/server/lib/textStream";
import { routeAccess } from "@/server/routeAccess";
import { runtime } from "@/server/runtime";

export const dynamic = "force-dynamic";

/** Downloads a workload as JSON lines, streamed as they are read. */
export async function GET(request: Request, { params }: { params: Promise<{ id: string }> }): Promise<Response> {
  const access = routeAccess(request, "read");
  if (!access.ok) return access.refusal;
  const { id } = await params;
  const written = runtime().services.workloads.write(id);
  if (written === null) return Response.json({ message: `There is no workload ${id}.` }, { status: 404 });
  const name = written.name.replace(/[^\p{L}\p{N}-]+/gu, "-").replace(/^-+|-+$/g, "") || "workload";
  return new Response(textStream(written.lines), {
    headers: {
      "content-type": "application/jsonl; charset=utf-8",
      "content-disposition": `attachment; filename="workload-${id.slice(0, 8)}.jsonl"; filename*=UTF-8''${encodeURIComponent(name)}.jsonl`,
    },
  });
}

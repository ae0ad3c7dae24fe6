import { auditFilterSchema, auditFormats } from "@/server/contracts/studio/audit";
import { textStream } from "@/server/lib/textStream";
import { routeAccess } from "@/server/routeAccess";
import { runtime } from "@/server/runtime";
import { exportLines } from "@/server/store/audit/exportLines";

export const dynamic = "force-dynamic";

const types = { jsonl: "application/jsonl; charset=utf-8", csv: "text/csv; charset=utf-8" } as const;

/** Downloads the lines of the audit that a filter asks for, in the order of its chain, streamed from the store: `?format=jsonl|csv`. */
export function GET(request: Request): Response {
  const access = routeAccess(request, "audit");
  if (!access.ok) return access.refusal;
  const { services } = runtime();
  const { format: asked = "jsonl", ...query } = Object.fromEntries(new URL(request.url).searchParams);
  const format = auditFormats.find((known) => known === asked);
  const filter = auditFilterSchema.safeParse(query);
  if (format === undefined)
    return Response.json({ message: `format is ${asked}: use one of ${auditFormats.join(", ")}.` }, { status: 400 });
  if (!filter.success) {
    const [issue] = filter.error.issues;
    return Response.json({ message: `${issue?.path.join(".")}: ${issue?.message}.` }, { status: 400 });
  }
  return new Response(textStream(exportLines(services.audit.linked(filter.data), format)), {
    headers: {
      "content-type": types[format],
      "content-disposition": `attachment; filename="audit-${new Date().toISOString().slice(0, 10)}.${format}"`,
      "cache-control": "no-store",
    },
  });
}

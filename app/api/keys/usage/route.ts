import { keyUsageSchema } from "@/server/api/routers/peopleRouter";
import { usageCsv } from "@/server/contracts/gateway/usageCsv";
import { routeAccess } from "@/server/routeAccess";
import { runtime } from "@/server/runtime";

export const dynamic = "force-dynamic";

/** Downloads the use of a gateway's keys by day, key and model as CSV: `?clusterId=…&from=2026-01-01&to=2026-01-31`. */
export async function GET(request: Request): Promise<Response> {
  const access = routeAccess(request, "manage");
  if (!access.ok) return access.refusal;
  const asked = keyUsageSchema.safeParse(Object.fromEntries(new URL(request.url).searchParams));
  if (!asked.success) {
    const [issue] = asked.error.issues;
    return Response.json({ message: `${issue?.path.join(".")}: ${issue?.message}.` }, { status: 400 });
  }
  const { clusterId, ...range } = asked.data;
  const usage = await runtime().services.gatewayKeys.usage(clusterId, range);
  if (!usage.ok) return Response.json({ message: usage.message }, { status: 409 });
  return new Response(usageCsv(usage.rows), {
    headers: {
      "content-type": "text/csv; charset=utf-8",
      "content-disposition": `attachment; filename="key-usage-${range.from}-${range.to}.csv"`,
      "cache-control": "no-store",
    },
  });
}

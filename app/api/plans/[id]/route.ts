import { routeAccess } from "@/server/routeAccess";
import { runtime } from "@/server/runtime";

export const dynamic = "force-dynamic";

/** Downloads a plan as the JSON document it is. */
export async function GET(request: Request, { params }: { params: Promise<{ id: string }> }): Promise<Response> {
  const access = routeAccess(request, "read");
  if (!access.ok) return access.refusal;
  const { id } = await params;
  const kept = runtime().services.plans.get(id);
  if (kept === null) return Response.json({ message: `There is no plan ${id}.` }, { status: 404 });
  return new Response(`${JSON.stringify(kept.plan, null, 2)}\n`, {
    headers: {
      "content-type": "application/json",
      "content-disposition": `attachment; filename="plan-${id.slice(0, 8)}.json"`,
    },
  });
}

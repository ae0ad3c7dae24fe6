export const dynamic = "force-dynamic";

/** The studio serves. */
export const GET = (): Response => Response.json({ status: "ok" });

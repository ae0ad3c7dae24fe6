import { join } from "node:path";
import { findSiteFile, type SiteFile } from "@/server/docs/siteFile";

export const dynamic = "force-dynamic";

const notBuilt = "The documentation is not built. Run `npm run docs:build` in the repository, then load this page again.";

/** The documentation site, read from `dist/docs`. Open without signing in: it is the same for everyone. */
export async function GET(_: Request, { params }: { params: Promise<{ path?: string[] }> }): Promise<Response> {
  const folder = join(process.env.WEIR_ROOT ?? process.cwd(), "dist", "docs");
  const { path = [] } = await params;
  const found = await findSiteFile(folder, path);
  if (found !== null) return answer(found, 200);
  const missing = await findSiteFile(folder, ["404"]);
  if (missing !== null) return answer({ ...missing, immutable: false }, 404);
  return new Response(notBuilt, { status: 503, headers: { "content-type": "text/plain; charset=utf-8", "cache-control": "no-cache" } });
}

function answer({ body, contentType, immutable, policy }: SiteFile, status: number): Response {
  const cache = immutable ? "public, max-age=31536000, immutable" : "no-cache";
  return new Response(body, {
    status,
    headers: { "content-type": contentType, "cache-control": cache, ...(policy === null ? {} : { "content-security-policy": policy }) },
  });
}

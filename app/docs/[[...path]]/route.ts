import { join } from "node:path";
import { findSiteFile } from "@/server/docs/siteFile";
import { sitePolicy } from "@/server/docs/sitePolicy";

export const dynamic = "force-dynamic";

const notBuilt = "The documentation is not built. Run `npm run docs:build` in the repository, then load this page again.";

/** The documentation site, read from `dist/docs`. Open without signing in: it is the same for everyone. */
export async function GET(_: Request, { params }: { params: Promise<{ path?: string[] }> }): Promise<Response> {
  const folder = join(process.env.WEIR_ROOT ?? process.cwd(), "dist", "docs");
  const { path = [] } = await params;
  const found = await findSiteFile(folder, path);
  if (found !== null) return answer(found.body, 200, found.contentType, found.immutable);
  const missing = await findSiteFile(folder, ["404"]);
  if (missing !== null) return answer(missing.body, 404, missing.contentType, false);
  return answer(notBuilt, 503, "text/plain; charset=utf-8", false);
}

function answer(body: Uint8Array<ArrayBuffer> | string, status: number, contentType: string, immutable: boolean): Response {
  const cache = immutable ? "public, max-age=31536000, immutable" : "no-cache";
  return new Response(body, {
    status,
    headers: {
      "content-type": contentType,
      "cache-control": cache,
      ...(body instanceof Uint8Array && contentType.startsWith("text/html")
        ? { "content-security-policy": sitePolicy(new TextDecoder().decode(body)) }
        : {}),
    },
  });
}

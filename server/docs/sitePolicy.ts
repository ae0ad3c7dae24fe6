import { createHash } from "node:crypto";

const scripts = /<script\b([^>]*)>([\s\S]*?)<\/script>/gi;
const hasSource = /\ssrc\s*=/i;

/**
 * The content security policy of a page of the documentation: files of the studio's origin and the inline scripts that the built page
 * itself has, by their SHA-256. Styles may be inline: VitePress colours code with style attributes, and its theme switch writes an element.
 */
export function sitePolicy(html: string): string {
  const inline = [...html.matchAll(scripts)].filter(([, attributes = ""]) => !hasSource.test(attributes));
  const hashes = new Set(inline.map(([, , text = ""]) => `'sha256-${createHash("sha256").update(text).digest("base64")}'`));
  return [
    "default-src 'none'",
    ["script-src 'self'", ...hashes].join(" "),
    "style-src 'self' 'unsafe-inline'",
    "img-src 'self' data:",
    "font-src 'self'",
    "connect-src 'self'",
    "manifest-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join("; ");
}

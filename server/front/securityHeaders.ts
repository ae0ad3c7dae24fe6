interface Page {
  /** Marks the scripts that the server wrote into this answer, base64. */
  readonly nonce: string;
  /** Whether the browser's connection is encrypted. */
  readonly secure: boolean;
}

/**
 * The content security policy of an answer. Scripts run only with the nonce, or begun by one that has it. Style elements need the studio's
 * origin or the nonce; style attributes are allowed, because charts and bars set their sizes with them, and an attribute loads no script.
 */
export const contentPolicy = ({ nonce }: Pick<Page, "nonce">): string =>
  [
    "default-src 'none'",
    `script-src 'nonce-${nonce}' 'strict-dynamic'`,
    `style-src-elem 'self' 'nonce-${nonce}'`,
    "style-src-attr 'unsafe-inline'",
    "img-src 'self' data:",
    "font-src 'self'",
    "connect-src 'self'",
    "worker-src 'self'",
    "manifest-src 'self'",
    "base-uri 'none'",
    "form-action 'self'",
    "frame-ancestors 'none'",
  ].join("; ");

/** No page of the studio uses a device or a payment. */
const unusedFeatures = ["camera", "microphone", "geolocation", "usb", "serial", "payment", "display-capture"];

/** A year, without subdomains and other services of the host's domain. */
const strictTransport = "max-age=31536000";

/** Headers of every answer of the studio, unless the route sets its own. */
export const securityHeaders = ({ nonce, secure }: Page): Readonly<Record<string, string>> => ({
  "content-security-policy": contentPolicy({ nonce }),
  "x-content-type-options": "nosniff",
  // For browsers that do not know `frame-ancestors`.
  "x-frame-options": "DENY",
  "referrer-policy": "same-origin",
  "permissions-policy": unusedFeatures.map((feature) => `${feature}=()`).join(", "),
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
  ...(secure ? { "strict-transport-security": strictTransport } : {}),
});

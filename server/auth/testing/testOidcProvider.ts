import { writeFileSync } from "node:fs";
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import Provider from "oidc-provider";

/** What the provider says of a person, who is known by the name they enter. */
export interface TestPerson {
  readonly preferred_username?: string;
  readonly email?: string;
  readonly name?: string;
  readonly groups?: readonly string[] | string;
}

export interface TestOidcProvider {
  readonly issuer: string;
  /** The settings of a studio that uses it. */
  readonly environment: Readonly<Record<string, string>>;
  /** Makes a studio known to the provider. */
  register(studioUrl: string): void;
  /** Ends it. */
  close(): Promise<void>;
}

const clientId = "weir";
const clientSecret = "the-client's-secret+/=";

/**
 * A real OpenID provider on loopback that asks for PKCE; its own pages take any password.
 *
 * @param people by what they enter as their login; they may change while it runs
 * @param folder where the client secret is put
 */
export async function startTestOidcProvider(people: Readonly<Record<string, TestPerson>>, folder: string): Promise<TestOidcProvider> {
  let handle: RequestListener = (_, response) => void response.writeHead(503).end();
  const server = createServer((request, response) => handle(request, response));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const secretFile = join(folder, "oidc-client-secret");
  writeFileSync(secretFile, `${clientSecret}\n`, { mode: 0o600 });
  return {
    issuer,
    environment: { WEIR_OIDC_ISSUER: issuer, WEIR_OIDC_CLIENT_ID: clientId, WEIR_OIDC_CLIENT_SECRET_FILE: secretFile },
    register(studioUrl) {
      const redirectUri = `${studioUrl}/api/sign-in/oidc/callback`;
      handle = new Provider(issuer, {
        clients: [{ client_id: clientId, client_secret: clientSecret, redirect_uris: [redirectUri] }],
        pkce: { required: () => true },
        claims: { openid: ["sub"], profile: ["name", "preferred_username"], email: ["email"], groups: ["groups"] },
        cookies: { keys: ["of tests"] },
        findAccount: (_: unknown, id: string) => ({ accountId: id, claims: () => ({ ...people[id], sub: id }) }),
      }).callback();
    },
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/**
 * What a browser does at the provider: follows the redirects, enters a login, and agrees.
 *
 * @param login null: cancels instead
 * @returns the address of the studio that the provider sends the browser to
 */
export async function signInAtProvider(authorizationUrl: string, login: string | null): Promise<URL> {
  const { origin } = new URL(authorizationUrl);
  const cookies = new Map<string, string>();
  let next = new URL(authorizationUrl);
  let form: URLSearchParams | null = null;
  for (let step = 0; step < 20 && next.origin === origin; step += 1) {
    const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join("; ");
    const response: Response = await fetch(next, {
      redirect: "manual",
      headers: { cookie },
      ...(form === null ? {} : { method: "POST", body: form }),
    });
    form = null;
    for (const set of response.headers.getSetCookie()) {
      const [name = "", value = ""] = set.split(";", 1)[0]?.split(/=(.*)/s) ?? [];
      cookies.set(name, value);
    }
    const location = response.headers.get("location");
    const page = await response.text();
    if (location !== null) next = new URL(location, next);
    else if (login === null) next = addressIn(page, /href="([^"]+\/abort)"/);
    else {
      next = addressIn(page, /action="([^"]+)"/);
      form = new URLSearchParams(page.includes('value="login"') ? { prompt: "login", login, password: "any" } : { prompt: "consent" });
    }
  }
  return next;
}

function addressIn(page: string, pattern: RegExp): URL {
  const found = pattern.exec(page)?.[1];
  if (found === undefined)
    throw new Error(`The provider's page is another than expected: ${page.replace(/<style>.*<\/style>/s, "").slice(0, 500)}`);
  return new URL(found);
}

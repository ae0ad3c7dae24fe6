import { readFileSync } from "node:fs";
import * as oidc from "openid-client";
import { reasonOf } from "@/server/lib/reasonOf";
import { isLoopback, type OidcSettings } from "./oidcSettings";
import type { OidcChecks } from "./pendingSignIns";

/** Of one request to the provider. */
const timeoutSeconds = 10;

/** Providers change keys and addresses seldom, and announce them in their metadata. */
const metadataMs = 3_600_000;

/** A person as the provider vouches for them. */
export interface Identity {
  readonly issuer: string;
  /** Unique and never reused at the issuer; names are neither. */
  readonly subject: string;
  /** Names to show, best first. */
  readonly names: readonly string[];
  readonly groups: readonly string[];
}

export interface OidcProvider {
  /** Where the browser goes to sign in. Throws where the provider cannot be reached. */
  authorizationUrl(checks: OidcChecks): Promise<URL>;
  /**
   * Who signed in, by the answer that the provider sent through the browser.
   *
   * @param answer the redirect address with the answer's query
   * @throws Error where the provider refused, cannot be reached, or its answer fails a check
   */
  identity(answer: URL, checks: OidcChecks): Promise<Identity>;
}

/**
 * An OpenID provider: authorization code with PKCE (RFC 7636, S256), `state` and `nonce` (OpenID Connect Core 1.0, 3.1). The signature of ID
 * tokens is checked although they come from the provider's own address.
 *
 * @param redirectUri address of the studio that is registered at the provider
 * @throws Error with one sentence where the file of the client secret cannot be read
 */
export function createOidcProvider(settings: OidcSettings, redirectUri: string): OidcProvider {
  const { issuer, clientId, clientSecretFile, scopes, groupsClaim } = settings;
  readSecret(clientSecretFile);
  let found: { readonly configuration: Promise<oidc.Configuration>; readonly atMs: number } | null = null;

  /** RFC 6749 has every provider support `client_secret_basic`; some state that they support the other alone. */
  const authenticate: oidc.ClientAuth = (server, ...rest) => {
    const methods = server.token_endpoint_auth_methods_supported;
    const byPost = methods !== undefined && !methods.includes("client_secret_basic") && methods.includes("client_secret_post");
    const secret = readSecret(clientSecretFile);
    return (byPost ? oidc.ClientSecretPost(secret) : oidc.ClientSecretBasic(secret))(server, ...rest);
  };

  function configuration(): Promise<oidc.Configuration> {
    if (found !== null && Date.now() - found.atMs < metadataMs) return found.configuration;
    const execute = [oidc.enableNonRepudiationChecks, ...(isLoopback(issuer) ? [oidc.allowInsecureRequests] : [])];
    const asked = oidc.discovery(issuer, clientId, undefined, authenticate, { timeout: timeoutSeconds, execute });
    const mine = { configuration: asked, atMs: Date.now() };
    found = mine;
    asked.catch(() => {
      if (found === mine) found = null;
    });
    return asked;
  }

  return {
    async authorizationUrl({ state, nonce, pkceVerifier }) {
      return oidc.buildAuthorizationUrl(await configuration(), {
        ...{ redirect_uri: redirectUri, scope: scopes, state, nonce },
        code_challenge: await oidc.calculatePKCECodeChallenge(pkceVerifier),
        code_challenge_method: "S256",
      });
    },
    async identity(answer, { state, nonce, pkceVerifier }) {
      const server = await configuration();
      const checks = { expectedState: state, expectedNonce: nonce, pkceCodeVerifier: pkceVerifier, idTokenExpected: true };
      const tokens = await oidc.authorizationCodeGrant(server, answer, checks);
      const idToken = tokens.claims();
      if (idToken === undefined) throw new Error("The provider sent no ID token.");
      const complete = idToken[groupsClaim] !== undefined || server.serverMetadata().userinfo_endpoint === undefined;
      const claims = complete ? idToken : { ...(await oidc.fetchUserInfo(server, tokens.access_token, idToken.sub)), ...idToken };
      return {
        issuer: idToken.iss,
        subject: idToken.sub,
        names: [claims.preferred_username, claims.email, claims.name].flatMap(textsOf),
        groups: textsOf(claims[groupsClaim]),
      };
    },
  };
}

/** The texts of a claim that is one text or a list. */
const textsOf = (claim: unknown): readonly string[] =>
  (Array.isArray(claim) ? claim : [claim]).filter((one) => typeof one === "string" && one !== "");

/** Read at each use: a new secret needs no restart. */
function readSecret(file: string): string {
  let secret: string;
  try {
    secret = readFileSync(file, "utf8").trim();
  } catch (problem) {
    throw new Error(`The file of WEIR_OIDC_CLIENT_SECRET_FILE cannot be read: ${reasonOf(problem)}`);
  }
  if (secret === "") throw new Error(`The file of WEIR_OIDC_CLIENT_SECRET_FILE, ${file}, is empty.`);
  return secret;
}

import { AuthorizationResponseError } from "openid-client";
import type { SignInFault } from "@/server/contracts/studio";
import { reasonOf } from "@/server/lib/reasonOf";
import type { Store } from "@/server/store/store";
import { mintSignInLink, redirectedLinkMs } from "../signIn";
import { admitPerson } from "./admitPerson";
import { createOidcProvider, type Identity } from "./oidcProvider";
import type { OidcSettings } from "./oidcSettings";
import { createPendingSignIns, type OidcChecks } from "./pendingSignIns";
import { browserSecretIn, stateCookie } from "./stateCookie";

const oidcStartPath = "/api/sign-in/oidc";
const answerPath = `${oidcStartPath}/callback`;

interface OidcParts {
  readonly settings: OidcSettings;
  readonly store: Store;
  /** Origin under which browsers reach the studio. */
  readonly studioUrl: string;
  /** Ends the open streams of sessions. */
  readonly endStreams: (sessionIds: readonly string[]) => void;
  /** One line for the operator. */
  readonly log: (line: string) => void;
}

/** Where the browser goes next, and the cookie that it gets. */
export interface SignInStep {
  readonly location: string;
  readonly setCookie: string;
}

export interface OidcSignIn {
  /** Of the provider, for the sign-in page. */
  readonly providerName: string;
  /** Absolute: the answer comes back to this host, whatever name of the studio the page was opened under. */
  readonly startUrl: string;
  /** Sends the browser to the provider. */
  begin(): Promise<SignInStep>;
  /**
   * Checks the provider's answer and sends the browser on with a one-time link: the sign-in page trades it for the session, as it does with a
   * printed one.
   *
   * @param query of the answer, with its `?`
   */
  finish(query: string, cookieHeader: string | null): Promise<SignInStep>;
}

/**
 * Sign-in by an OpenID provider.
 *
 * @throws Error with one sentence where the file of the client secret cannot be read
 */
export function createOidcSignIn({ settings, store, studioUrl, endStreams, log }: OidcParts): OidcSignIn {
  const answerUrl = new URL(answerPath, studioUrl).href;
  const isSecure = answerUrl.startsWith("https:");
  const provider = createOidcProvider(settings, answerUrl);
  const pending = createPendingSignIns();
  const end = (location: string): SignInStep => ({ location, setCookie: stateCookie("", isSecure) });
  const failed = (fault: SignInFault): SignInStep => end(`/sign-in?reason=${fault}`);
  const report = (problem: unknown): void => log(`Sign-in by ${settings.issuer.href} failed: ${sentenceOf(problem)}`);

  /** The person who signed in, or why nobody did. */
  async function identified(query: string, checks: OidcChecks): Promise<Identity | SignInFault> {
    try {
      return await provider.identity(new URL(`${answerUrl}${query}`), checks);
    } catch (problem) {
      if (problem instanceof AuthorizationResponseError && problem.error === "access_denied") return "denied";
      report(problem);
      return "answer-refused";
    }
  }

  return {
    providerName: settings.name,
    startUrl: new URL(oidcStartPath, studioUrl).href,
    async begin() {
      const { browserSecret, ...checks } = pending.begin();
      try {
        const { href } = await provider.authorizationUrl(checks);
        return { location: href, setCookie: stateCookie(browserSecret, isSecure) };
      } catch (problem) {
        report(problem);
        return failed("provider-unavailable");
      }
    },
    async finish(query, cookieHeader) {
      const state = new URLSearchParams(query).get("state") ?? "";
      const checks = pending.take(state, browserSecretIn(cookieHeader, isSecure));
      if (checks === null) return failed("expired");
      const identity = await identified(query, checks);
      if (typeof identity === "string") return failed(identity);
      const admission = admitPerson({ store, settings, endStreams }, identity);
      if (!admission.ok) return failed(admission.fault);
      return end(mintSignInLink(store, "", { userId: admission.userId, lifeMs: redirectedLinkMs }));
    },
  };
}

/** An error's own words and those of its cause; the provider's error code, and no other text that came through a browser. */
function sentenceOf(problem: unknown): string {
  const { error, cause } = problem as { readonly error?: unknown; readonly cause?: unknown };
  if (typeof error === "string") return `it answered with the error ${error.replace(/[^\w.-]/g, "?").slice(0, 100)}.`;
  return cause instanceof Error ? `${reasonOf(problem)} (${reasonOf(cause)})` : reasonOf(problem);
}

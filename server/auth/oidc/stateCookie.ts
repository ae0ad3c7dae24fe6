import { pendingSeconds } from "./pendingSignIns";

const plainName = "weir_oidc";
const secureName = "__Host-weir_oidc";

/** The only path that reads it; a `__Host-` cookie has to name the whole host. */
const plainPath = "/api/sign-in/oidc";

/**
 * `Set-Cookie` that binds a sign-in to this browser. `Lax`, since the provider's page leads to the answer. An empty secret ends it.
 *
 * @param secure whether the studio is reached over TLS
 */
export function stateCookie(browserSecret: string, secure: boolean): string {
  const [name, where] = secure ? [secureName, "Path=/; Secure"] : [plainName, `Path=${plainPath}`];
  return `${name}=${browserSecret}; ${where}; HttpOnly; SameSite=Lax; Max-Age=${browserSecret === "" ? 0 : pendingSeconds}`;
}

/** The browser's secret in a `Cookie` header; empty where there is none. */
export function browserSecretIn(cookieHeader: string | null, secure: boolean): string {
  const wanted = `${secure ? secureName : plainName}=`;
  const pair = (cookieHeader ?? "").split(";").find((one) => one.trim().startsWith(wanted));
  return pair?.trim().slice(wanted.length) ?? "";
}

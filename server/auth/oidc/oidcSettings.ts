import type { Role } from "@/server/contracts/studio";
import { roles } from "../roles";

/** How people sign in by an OpenID provider. */
export interface OidcSettings {
  readonly issuer: URL;
  /** The provider's name on the sign-in page. */
  readonly name: string;
  readonly clientId: string;
  /** File with the client secret: arguments and the environment are seen by more than this user. */
  readonly clientSecretFile: string;
  /** Separated by spaces. */
  readonly scopes: string;
  readonly groupsClaim: string;
  readonly roleOfGroup: ReadonlyMap<string, Role>;
  /** Of people without a group that has a role; null: they are refused. */
  readonly defaultRole: Role | null;
}

type Environment = Readonly<Record<string, string | undefined>>;

const prefix = "WEIR_OIDC_";
const known = ["ISSUER", "NAME", "CLIENT_ID", "CLIENT_SECRET_FILE", "SCOPES", "GROUPS_CLAIM", "ROLES", "DEFAULT_ROLE"].map(
  (name) => `${prefix}${name}`,
);

const roleList = `${roles.slice(0, -1).join(", ")} or ${roles.at(-1)}`;

/**
 * Reads the settings from the environment.
 *
 * @param studioUrl origin under which browsers reach the studio, to which the provider sends them back
 * @returns null where no `WEIR_OIDC_…` variable is set
 * @throws Error with one sentence that names the variable at fault
 */
export function oidcSettings(environment: Environment, studioUrl: string): OidcSettings | null {
  const set = Object.keys(environment).filter((name) => name.startsWith(prefix) && environment[name] !== "");
  if (set.length === 0) return null;
  const unknown = set.find((name) => !known.includes(name));
  if (unknown !== undefined) throw new Error(`${unknown} is no setting: the settings of sign-in by OIDC are ${known.join(", ")}.`);
  const required = (name: string, what: string): string => {
    const value = environment[name]?.trim() ?? "";
    if (value === "") throw new Error(`${name} is not set, but ${set.find((other) => other !== name)} is: set it to ${what}.`);
    return value;
  };
  const issuer = encryptedUrl("WEIR_OIDC_ISSUER", required("WEIR_OIDC_ISSUER", "the issuer's URL"));
  encryptedUrl("WEIR_STUDIO_URL", studioUrl);
  const defaultRole = roleIn("WEIR_OIDC_DEFAULT_ROLE", environment.WEIR_OIDC_DEFAULT_ROLE);
  const roleOfGroup = rolesOfGroups(environment.WEIR_OIDC_ROLES ?? "");
  if (roleOfGroup.size === 0 && defaultRole === null)
    throw new Error("WEIR_OIDC_ROLES is not set: without it or WEIR_OIDC_DEFAULT_ROLE nobody could sign in by OIDC.");
  const scopes = (environment.WEIR_OIDC_SCOPES || "openid profile email").split(/\s+/).filter((scope) => scope !== "");
  if (!scopes.includes("openid")) throw new Error(`WEIR_OIDC_SCOPES is "${scopes.join(" ")}": it must contain openid.`);
  return {
    issuer,
    name: environment.WEIR_OIDC_NAME?.trim() || issuer.host,
    clientId: required("WEIR_OIDC_CLIENT_ID", "the client id that the provider knows the studio by"),
    clientSecretFile: required("WEIR_OIDC_CLIENT_SECRET_FILE", "the path of a file with the client secret"),
    scopes: scopes.join(" "),
    groupsClaim: environment.WEIR_OIDC_GROUPS_CLAIM?.trim() || "groups",
    roleOfGroup,
    defaultRole,
  };
}

/** Whether a URL names this machine, which no network lies in front of. */
export const isLoopback = ({ hostname }: URL): boolean => /^(127(\.\d+){3}|localhost|\[::1\])$/.test(hostname);

function encryptedUrl(name: string, value: string): URL {
  if (!URL.canParse(value)) throw new Error(`${name} is "${value}": give a URL such as https://login.example.com.`);
  const url = new URL(value);
  if (url.username !== "" || url.password !== "" || url.search !== "" || url.hash !== "")
    throw new Error(`${name} may have neither a user, nor a query, nor a fragment.`);
  if (url.protocol !== "https:" && !(url.protocol === "http:" && isLoopback(url)))
    throw new Error(`${name} is "${value}": sign-in by OIDC needs https, unless the address is a loopback one.`);
  return url;
}

function roleIn(name: string, given = ""): Role | null {
  if (given.trim() === "") return null;
  const role = roles.find((one) => one === given.trim());
  if (role === undefined) throw new Error(`${name} has the role "${given.trim()}": give ${roleList}.`);
  return role;
}

/** `admins=admin,ml-ops=operator`; a group's own name may contain `=`, and no comma. */
function rolesOfGroups(text: string): ReadonlyMap<string, Role> {
  const name = "WEIR_OIDC_ROLES";
  const found = new Map<string, Role>();
  for (const entry of text.split(",").map((one) => one.trim())) {
    if (entry === "") continue;
    const at = entry.lastIndexOf("=");
    const group = entry.slice(0, Math.max(0, at)).trim();
    const role = at < 0 ? null : roleIn(name, entry.slice(at + 1));
    if (group === "" || role === null) throw new Error(`${name} has "${entry}": give group=role, separated by commas.`);
    if (found.has(group)) throw new Error(`${name} names the group "${group}" twice.`);
    found.set(group, role);
  }
  return found;
}

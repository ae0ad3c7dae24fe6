import type { EngineAccessError } from "@/server/contracts/engine/engineAccessError";
import type { Finding } from "@/server/contracts/studio";
import { failed } from "./finding";

/** Codes of OpenSSL and of Node for a certificate that is not taken. */
const certificateFaults: readonly { readonly codes: readonly string[]; readonly says: string; readonly next: string }[] = [
  {
    codes: ["CERT_HAS_EXPIRED"],
    says: "Its certificate has expired.",
    next: "Renew the certificate on the server.",
  },
  {
    codes: ["CERT_NOT_YET_VALID"],
    says: "Its certificate is not valid yet.",
    next: "Check the clocks of the server and of this machine.",
  },
  {
    codes: ["ERR_TLS_CERT_ALTNAME_INVALID"],
    says: "Its certificate is for another host.",
    next: "Use the host name that the certificate is for, or have one made for this one.",
  },
  {
    codes: ["DEPTH_ZERO_SELF_SIGNED_CERT", "SELF_SIGNED_CERT_IN_CHAIN", "UNABLE_TO_VERIFY_LEAF_SIGNATURE"].concat([
      "UNABLE_TO_GET_ISSUER_CERT",
      "UNABLE_TO_GET_ISSUER_CERT_LOCALLY",
      "CERT_UNTRUSTED",
    ]),
    says: "Its certificate was made by an authority that is not known here.",
    next: "Put the authority's certificate (PEM) into the folder of secrets and name it as the endpoint's CA file.",
  },
  {
    codes: ["CERT_SIGNATURE_FAILURE", "CERT_REVOKED", "INVALID_CA", "INVALID_PURPOSE"],
    says: "Its certificate is not valid.",
    next: "Have a new certificate made for the server.",
  },
];

/** What the other side speaks where it is not what was asked for. */
const plainThere: readonly string[] = ["ERR_SSL_WRONG_VERSION_NUMBER", "ERR_SSL_PACKET_LENGTH_TOO_LONG", "EPROTO"];
const noHttpThere = /^HPE_|^UND_ERR_SOCKET$|^ECONNRESET$/;

/** Why nothing came from an endpoint. */
export function unreached(url: string, code: string): Finding {
  const { hostname, host, protocol } = new URL(url);
  const fault = certificateFaults.find(({ codes }) => codes.includes(code));
  if (fault !== undefined) return failed("certificate", fault.says, fault.next);
  if (protocol === "https:" && plainThere.includes(code))
    return failed("certificate", `${host} does not speak TLS.`, "Write http:// in place of https://.");
  if (code === "ENOTFOUND" || code === "EAI_AGAIN")
    return failed("reached", `There is no host ${hostname}.`, "Check the name, and that this machine asks the right name server.");
  if (code === "ECONNREFUSED")
    return failed(
      "reached",
      `Nothing listens at ${host}.`,
      "Check the port, and that the engine is up and listens on more than its own loopback address.",
    );
  if (code === "EHOSTUNREACH" || code === "ENETUNREACH")
    return failed(
      "reached",
      `There is no way to ${hostname} from here.`,
      "Check the network and its firewall between this machine and the engine.",
    );
  if (code === "UND_ERR_CONNECT_TIMEOUT" || code === "ETIMEDOUT") return tooLate(url);
  if (noHttpThere.test(code))
    return failed(
      "reached",
      `What listens at ${host} does not answer as an HTTP server does.`,
      protocol === "http:" ? "If it speaks TLS, write https://." : "Check the port.",
    );
  return failed("reached", `${host} cannot be asked (${code === "" ? "no reason was given" : code}).`, null);
}

/** Nothing came in the time there was. */
export function tooLate(url: string): Finding {
  const { host } = new URL(url);
  return failed(
    "reached",
    `${host} does not answer in time.`,
    "Check that the engine is not stuck, and the firewall between this machine and it.",
  );
}

/** Why nothing was sent to an endpoint. */
export function unsent({ kind, message, use }: EngineAccessError): Finding {
  const sentence = `${message}.`;
  switch (kind) {
    case "missing":
      return failed(
        "key",
        sentence,
        "Put the file there: it is read within a second. A variable has to be set before studio and gateway start.",
      );
    case "address":
      return failed("reached", sentence, null);
    case "elsewhere":
    case "unentered":
      return { ...failed("key", sentence, null), ...(use !== null && { allow: use }) };
  }
}

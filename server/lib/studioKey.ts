import { createPrivateKey, createPublicKey, generateKeyPairSync, type KeyObject } from "node:crypto";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { hashOf, publicKeyText, type SignedParts, signStatement } from "@/server/contracts/gateway/signedOrder";

/** An order to a cluster's gateway, as it is signed. */
interface OrderToSign {
  readonly clusterId: string;
  /** Method and path. */
  readonly order: string;
  readonly body: unknown;
  /** The parts of the configuration that it may put into force. */
  readonly parts: SignedParts;
  /** The last revision that the gateway says it has accepted, if it refused a lower one; absent: none is known. */
  readonly after?: number;
}

export type SignOrder = (order: OrderToSign) => string;

/**
 * The studio's Ed25519 key of a state folder, made at the first call: `studio-key.pem` only for this user, and `studio-key.pub` for its
 * gateways.
 * @throws Error if the folder cannot be written or the file holds no such key.
 */
export function studioKey(stateDir: string): KeyObject {
  const file = join(stateDir, "studio-key.pem");
  if (!existsSync(file)) {
    const { privateKey } = generateKeyPairSync("ed25519");
    writeFileSync(file, privateKey.export({ type: "pkcs8", format: "pem" }), { mode: 0o600, flag: "wx" });
  }
  const privateKey = createPrivateKey(readFileSync(file));
  const text = publicKeyText(createPublicKey(privateKey));
  const shared = join(stateDir, "studio-key.pub");
  if (!existsSync(shared) || readFileSync(shared, "utf8").trim() !== text) writeFileSync(shared, `${text}\n`);
  return privateKey;
}

/** How far a gateway's revision may be ahead of this clock to be believed, in milliseconds. */
const mostAheadMs = 24 * 60 * 60 * 1000;

/**
 * Signs orders to gateways, each with a higher revision than any before to its cluster: the time, in milliseconds, unless the gateway is ahead
 * of it. A gateway that claims to be more than a day ahead is not followed: no later order of its cluster could have a higher revision.
 */
export function orderSigner(privateKey: KeyObject): SignOrder {
  const lastOf = new Map<string, number>();
  return ({ clusterId, order, body, parts, after = 0 }) => {
    const nowMs = Date.now();
    const accepted = Number.isSafeInteger(after) && after < nowMs + mostAheadMs ? after : 0;
    const revision = Math.max(nowMs, (lastOf.get(clusterId) ?? 0) + 1, accepted + 1);
    lastOf.set(clusterId, revision);
    return signStatement({ clusterId, revision, order, body: hashOf(body), parts }, privateKey);
  };
}

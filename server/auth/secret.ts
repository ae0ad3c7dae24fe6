import { createHash, randomBytes, timingSafeEqual } from "node:crypto";

/** 256 random bits, URL-safe. */
export const newSecret = (): string => randomBytes(32).toString("base64url");

/** What is stored of a secret: its SHA-256, enough to recognise it and not to make it. */
export const hashSecret = (secret: string): string => createHash("sha256").update(secret).digest("hex");

/** Whether two hashes are equal, in a time that does not depend on where they differ. */
export const sameHash = (a: string, b: string): boolean => a.length === b.length && timingSafeEqual(Buffer.from(a), Buffer.from(b));

import { createHash, randomBytes } from "node:crypto";

/** 256 random bits, URL-safe: a sign-in token or a session cookie. */
export const newSecret = (): string => randomBytes(32).toString("base64url");

/** What is stored of a secret: its SHA-256, enough to recognise it and not to make it. */
export const hashSecret = (secret: string): string => createHash("sha256").update(secret).digest("hex");

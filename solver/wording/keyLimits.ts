export const limitNames = ["tokensPerMinute", "tokensPerDay", "usdPerHour", "usdPerDay", "usdPerMonth"] as const;

export type KeyLimitName = (typeof limitNames)[number];

export interface KeyLimit {
  readonly name: KeyLimitName;
  readonly unit: "tokens" | "usd";
  readonly period: "minute" | "hour" | "day" | "month";
}

/** Limits that a key may have. Windows are of the calendar in UTC. Tokens are those of all answers of engines, read and written. */
export const keyLimits: readonly KeyLimit[] = [
  { name: "tokensPerMinute", unit: "tokens", period: "minute" },
  { name: "tokensPerDay", unit: "tokens", period: "day" },
  { name: "usdPerHour", unit: "usd", period: "hour" },
  { name: "usdPerDay", unit: "usd", period: "day" },
  { name: "usdPerMonth", unit: "usd", period: "month" },
];

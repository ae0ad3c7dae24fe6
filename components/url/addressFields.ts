import type { UrlCodec } from "./useUrlView";

/** How one value of a view is written in the address. */
interface AddressField<Value> {
  /** Name of its parameter, where that is not the value's own name. */
  readonly param?: string;
  /** @param text null where the address lacks it. Anyone can type an address, so every invalid text means the default. */
  readonly parse: (text: string | null) => Value;
  /** undefined leaves it out of the address, which means the default. */
  readonly format: (value: Value) => string | undefined;
}

interface Bounds {
  readonly min: number;
  readonly max: number;
}

/** The codec of a view whose values each have one parameter, in the order in which the address has them. */
export function codecOf<View extends object>(
  fields: {
    readonly [Key in keyof View]: AddressField<View[Key]>;
  },
): UrlCodec<Readonly<View>> {
  const keys = Object.keys(fields) as (keyof View & string)[];
  const paramOf = (key: keyof View & string): string => fields[key].param ?? key;
  return {
    parse: (params) => Object.fromEntries(keys.map((key) => [key, fields[key].parse(params.get(paramOf(key)))])) as View,
    format: (view) => Object.fromEntries(keys.map((key) => [paramOf(key), fields[key].format(view[key])])),
  };
}

/** The view that a codec reads and writes. */
export type ViewOf<Codec> = Codec extends UrlCodec<infer View> ? View : never;

/** The field under another name of its parameter. */
export const named = <Value>(param: string, field: AddressField<Value>): AddressField<Value> => ({ ...field, param });

/** The field with a default in place of null. */
export const withDefault = <Value>(field: AddressField<Value | null>, usual: NoInfer<Value>): AddressField<Value> => ({
  ...field,
  parse: (text) => field.parse(text) ?? usual,
  format: (value) => (value === usual ? undefined : field.format(value)),
});

/** Any text up to a length; null: none. */
export const text = (longest = Number.POSITIVE_INFINITY): AddressField<string | null> => ({
  parse: (value) => (value === null || value === "" || value.length > longest ? null : value),
  format: (value) => value ?? undefined,
});

/** One of a few words; null: none. */
export const word = <const Word extends string>(words: readonly Word[]): AddressField<Word | null> => ({
  parse: (value) => words.find((each) => each === value) ?? null,
  format: (value) => value ?? undefined,
});

/** A number within bounds; null: none. */
export const number = (bounds: Bounds): AddressField<number | null> => ({
  parse: (value) => {
    if (value === null || value.trim() === "") return null;
    return Number(value) >= bounds.min && Number(value) <= bounds.max ? Number(value) : null;
  },
  format: (value) => (value === null ? undefined : String(value)),
});

/** A whole number within bounds; null: none. */
export function whole(bounds: Bounds): AddressField<number | null> {
  const { parse, format } = number(bounds);
  return {
    parse: (value) => (Number.isInteger(parse(value)) ? parse(value) : null),
    format,
  };
}

/** A boolean, one value of which is written as a word in the address. */
export const flag = (sign: string, meaning = true): AddressField<boolean> => ({
  parse: (value) => (value === sign) === meaning,
  format: (value) => (value === meaning ? sign : undefined),
});

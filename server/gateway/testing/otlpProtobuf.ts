// OTLP's protobuf messages as a collector reads them, decoded by the numbers of opentelemetry/proto/trace/v1 without code of the sender.

/** A value of an attribute with its type in OTLP. */
export type OtlpValue =
  | { readonly type: "string"; readonly value: string }
  | { readonly type: "boolean"; readonly value: boolean }
  | { readonly type: "int" | "double"; readonly value: number }
  | { readonly type: "string[]"; readonly value: readonly string[] }
  | { readonly type: "other"; readonly value: null };

interface OtlpEvent {
  readonly name: string;
  readonly atMs: number;
}

export interface OtlpSpan {
  readonly name: string;
  /** 1: internal, 2: server, 3: client. */
  readonly kind: number;
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId: string;
  readonly fromMs: number;
  readonly toMs: number;
  /** Its status is an error. */
  readonly failed: boolean;
  readonly events: readonly OtlpEvent[];
  readonly typed: Readonly<Record<string, OtlpValue>>;
}

/** The fields of one message by number: bytes of length-delimited ones, else the number. */
type Fields = ReadonlyMap<number, readonly (Buffer | bigint)[]>;

/** @throws RangeError where the bytes are no message. */
function fieldsOf(bytes: Buffer): Fields {
  const fields = new Map<number, (Buffer | bigint)[]>();
  let at = 0;
  const varint = (): bigint => {
    let value = 0n;
    for (let shift = 0n; ; shift += 7n) {
      const byte = bytes.readUInt8(at);
      at += 1;
      value |= BigInt(byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
  };
  const value = (wire: number): Buffer | bigint => {
    if (wire === 0) return varint();
    const length = wire === 2 ? Number(varint()) : wire === 1 ? 8 : wire === 5 ? 4 : Number.NaN;
    if (!(at + length <= bytes.length)) throw new RangeError(`a field of wire type ${wire} ends after its message`);
    at += length;
    return bytes.subarray(at - length, at);
  };
  while (at < bytes.length) {
    const key = Number(varint());
    fields.set(key >> 3, [...(fields.get(key >> 3) ?? []), value(key & 7)]);
  }
  return fields;
}

const bytesOf = (fields: Fields, number: number): readonly Buffer[] => (fields.get(number) ?? []).filter((one) => Buffer.isBuffer(one));
const textOf = (fields: Fields, number: number): string => bytesOf(fields, number)[0]?.toString("utf8") ?? "";
const hexOf = (fields: Fields, number: number): string => bytesOf(fields, number)[0]?.toString("hex") ?? "";
const msOf = (fields: Fields, number: number): number => Number(bytesOf(fields, number)[0]?.readBigUInt64LE() ?? 0n) / 1e6;
const intOf = (fields: Fields, number: number): number => Number(fields.get(number)?.[0] ?? 0);

function readValue(bytes: Buffer): OtlpValue {
  const fields = fieldsOf(bytes);
  if (fields.has(1)) return { type: "string", value: textOf(fields, 1) };
  if (fields.has(2)) return { type: "boolean", value: intOf(fields, 2) === 1 };
  if (fields.has(3)) return { type: "int", value: Number(BigInt.asIntN(64, fields.get(3)?.[0] as bigint)) };
  if (fields.has(4)) return { type: "double", value: bytesOf(fields, 4)[0]?.readDoubleLE() ?? Number.NaN };
  const items = bytesOf(fields, 5).flatMap((list) => bytesOf(fieldsOf(list), 1).map(readValue));
  const texts = items.flatMap((item) => (item.type === "string" ? [item.value] : []));
  return fields.has(5) && texts.length === items.length ? { type: "string[]", value: texts } : { type: "other", value: null };
}

const attributesOf = (entries: readonly Buffer[]): Record<string, OtlpValue> =>
  Object.fromEntries(
    entries.map((entry) => {
      const fields = fieldsOf(entry);
      return [textOf(fields, 1), readValue(bytesOf(fields, 2)[0] ?? Buffer.alloc(0))];
    }),
  );

function spanOf(bytes: Buffer): OtlpSpan {
  const fields = fieldsOf(bytes);
  const status = bytesOf(fields, 15)[0];
  return {
    name: textOf(fields, 5),
    kind: intOf(fields, 6),
    traceId: hexOf(fields, 1),
    spanId: hexOf(fields, 2),
    parentSpanId: hexOf(fields, 4),
    fromMs: msOf(fields, 7),
    toMs: msOf(fields, 8),
    failed: status !== undefined && intOf(fieldsOf(status), 3) === 2,
    events: bytesOf(fields, 11).map((event) => ({ name: textOf(fieldsOf(event), 2), atMs: msOf(fieldsOf(event), 1) })),
    typed: attributesOf(bytesOf(fields, 9)),
  };
}

/** The resource's attributes and the spans of an `ExportTraceServiceRequest`. */
export function decodeSpans(body: Buffer): { readonly resource: Readonly<Record<string, OtlpValue>>; readonly spans: readonly OtlpSpan[] } {
  const resourceSpans = bytesOf(fieldsOf(body), 1).map(fieldsOf);
  const resources = resourceSpans.flatMap((one) => bytesOf(one, 1)).flatMap((resource) => bytesOf(fieldsOf(resource), 1));
  const spans = resourceSpans.flatMap((one) => bytesOf(one, 2)).flatMap((scope) => bytesOf(fieldsOf(scope), 2));
  return { resource: attributesOf(resources), spans: spans.map(spanOf) };
}

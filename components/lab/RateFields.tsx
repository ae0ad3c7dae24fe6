import { Button } from "../ui/Button";
import { formatPercent, formatRate } from "../ui/format";
import { NumberInput } from "../ui/NumberInput";
import { repeatedRates } from "./prepareSetup";

/** The most informative loads: half full, busy, and almost full. */
const SHARES = [0.5, 0.8, 0.95] as const;
const MOST_RATES = 12;

/** Three digits: the rounded rate is the one that is run. */
const rounded = (rate: number): number => Number(rate.toPrecision(3));

/** Programs per second, each as a share of what the engines can serve. */
export function RateFields(props: {
  readonly rates: readonly number[];
  /** null while it is not known. */
  readonly saturation: number | null;
  readonly onRates: (rates: number[]) => void;
}) {
  const { rates, saturation } = props;
  const repeated = repeatedRates(rates);
  const put = (index: number, rate: number) => props.onRates(rates.map((each, at) => (at === index ? rate : each)));
  return (
    <div className="flex flex-col gap-2">
      <ul aria-label="Rates" className="flex list-none flex-wrap gap-x-6 gap-y-2">
        {rates.map((rate, index) => (
          <li key={index} className="flex flex-wrap items-center gap-1.5 text-xs">
            <NumberInput
              label={`Rate ${index + 1}, programs a second`}
              value={rate}
              min={0.001}
              max={10_000}
              step={0.1}
              onChange={(value) => put(index, value)}
            />
            {repeated.includes(index) && (
              <span role="alert" className="text-bad">
                listed twice
              </span>
            )}
            <span className="text-ink-3">/s{saturation !== null && `, ${formatPercent(rate / saturation)} of saturation`}</span>
            <button
              type="button"
              aria-label={`Leave out rate ${index + 1}`}
              disabled={rates.length === 1}
              className="size-6 rounded text-ink-3 hover:bg-sunken hover:text-ink disabled:invisible"
              onClick={() => props.onRates(rates.filter((_, at) => at !== index))}
            >
              ×
            </button>
          </li>
        ))}
      </ul>
      <div className="flex flex-wrap items-center gap-2">
        <Button disabled={rates.length >= MOST_RATES} onClick={() => props.onRates([...rates, rounded((rates.at(-1) ?? 1) * 1.1)])}>
          Add a rate
        </Button>
        {saturation !== null && (
          <>
            <Button onClick={() => props.onRates(SHARES.map((share) => rounded(share * saturation)))}>
              {SHARES.map((share) => share * 100).join(", ")} % of saturation
            </Button>
            <span className="text-xs text-ink-3">
              These engines saturate at roughly {formatRate(saturation)} programs of this mix, by their modelled step times, when all are
              busy. A system that leaves some idle saturates earlier.
            </span>
          </>
        )}
      </div>
    </div>
  );
}

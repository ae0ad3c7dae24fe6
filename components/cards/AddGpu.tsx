import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { MOST_CARD_FIGURE, MOST_GPU_PRICE_USD } from "@/solver/hardware/cardSchema";
import { type Inputs, useTRPC, useTRPCClient } from "../api/trpc";
import { unwrapOutcome } from "../api/unwrapOutcome";
import { NumberField, SelectField, TextField } from "../ui/Field";
import { FormModal } from "../ui/FormModal";
import type { GpuEntry } from "./prepareCards";

type Gpu = Inputs["cards"]["addGpu"];

/** The maximum of a card's figure in the form's units. */
const MOST_TERA = MOST_CARD_FIGURE / 1e12;
const MOST_GIGA = MOST_CARD_FIGURE / 1e9;

/** A known GPU's figures in the units of the form: the starting values for the user's own GPU. */
const formOf = (card: GpuEntry) => ({
  id: "",
  name: "",
  startsFrom: card.id,
  memoryGib: card.memoryBytes / GIB,
  terabytesPerSecond: card.memoryBytesPerSecond / 1e12,
  bf16Tflops: card.denseFlopsBf16 / 1e12,
  fp8Tflops: (card.denseFlopsFp8 ?? 0) / 1e12,
  link: card.link,
  linkGigabytes: card.linkBytesPerSecond / 1e9,
  pcieGigabytes: card.pcieBytesPerSecond / 1e9,
  efficienciesOf: card.efficienciesOf,
  usdPerGpuHour: 0,
  source: "",
});

type Form = ReturnType<typeof formOf>;
type NumberKey = { [Key in keyof Form]: Form[Key] extends number ? Key : never }[keyof Form];

const GIB = 1024 ** 3;

/** A decimal number with its point moved, so that 1.1 TB/s is 1.1e12 and not next to it. */
function timesTenTo(power: number, value: number): number {
  const [digits, exponent = "0"] = String(value).split("e");
  return Number(`${digits}e${Number(exponent) + power}`);
}

const cardOf = (form: Form): Gpu => ({
  id: form.id.trim(),
  name: form.name.trim(),
  memoryBytes: form.memoryGib * GIB,
  memoryBytesPerSecond: timesTenTo(12, form.terabytesPerSecond),
  denseFlopsBf16: timesTenTo(12, form.bf16Tflops),
  denseFlopsFp8: form.fp8Tflops === 0 ? null : timesTenTo(12, form.fp8Tflops),
  link: form.link,
  linkBytesPerSecond: timesTenTo(9, form.linkGigabytes),
  pcieBytesPerSecond: timesTenTo(9, form.pcieGigabytes),
  efficienciesOf: form.efficienciesOf,
  source: form.source.trim(),
});

/** Describes a GPU that has no card yet. */
export function AddGpu({ gpus, onClose }: { readonly gpus: readonly [GpuEntry, ...GpuEntry[]]; readonly onClose: () => void }) {
  const trpc = useTRPC();
  const client = useTRPCClient();
  const queries = useQueryClient();
  const [form, setForm] = useState(formOf(gpus[0]));
  const put = (change: Partial<Form>): void => setForm({ ...form, ...change });
  const add = useMutation({
    mutationFn: async () => {
      const card = cardOf(form);
      unwrapOutcome(await client.cards.addGpu.mutate(card));
      if (form.usdPerGpuHour > 0) unwrapOutcome(await client.cards.setPrice.mutate({ gpu: card.id, usdPerGpuHour: form.usdPerGpuHour }));
    },
    onSuccess: async () => {
      await queries.invalidateQueries({ queryKey: trpc.pathKey() });
      onClose();
    },
  });
  // Efficiencies can be copied only from GPUs with measured kernels.
  const relatives = [...new Set(gpus.map((card) => card.efficienciesOf))];
  const number = (key: NumberKey) => ({
    value: form[key],
    onChange: (value: number) => put({ [key]: value }),
  });
  return (
    <FormModal
      open
      onClose={onClose}
      title="Add a GPU"
      description="Figures of its data sheet: compute dense, without sparsity, and links in one direction."
      act={add}
      ready={[form.id, form.name, form.source].every((text) => text.trim() !== "")}
      onSubmit={() => add.mutate()}
      keep={null}
      go="Add GPU"
    >
      <div className="grid gap-4 sm:grid-cols-2">
        <TextField label="Id" value={form.id} maxLength={80} placeholder="such as h20" onChange={(id) => put({ id })} />
        <TextField label="Name" value={form.name} maxLength={80} placeholder="such as NVIDIA H20" onChange={(name) => put({ name })} />
        <SelectField
          label="Start from the figures of"
          className="sm:col-span-2"
          value={form.startsFrom}
          options={gpus.map(({ id, name }) => ({ value: id, text: name }))}
          onChange={(id) => {
            const { id: own, name, source, usdPerGpuHour } = form;
            setForm({ ...formOf(gpus.find((card) => card.id === id) ?? gpus[0]), id: own, name, source, usdPerGpuHour });
          }}
        />
        <NumberField label="Memory" unit="GiB" above min={0} max={Math.floor(MOST_CARD_FIGURE / GIB)} {...number("memoryGib")} />
        <NumberField label="Memory bandwidth" unit="TB/s" above min={0} max={MOST_TERA} step={0.01} {...number("terabytesPerSecond")} />
        <NumberField label="Dense bf16 compute" unit="TFLOPS" above min={0} max={MOST_TERA} {...number("bf16Tflops")} />
        <NumberField label="Dense fp8 compute" unit="TFLOPS, 0 for none" min={0} max={MOST_TERA} {...number("fp8Tflops")} />
        <SelectField
          label="Joined within a node by"
          value={form.link}
          options={[
            { value: "nvlink", text: "NVLink" },
            { value: "pcie", text: "PCIe" },
          ]}
          onChange={(link) => put({ link })}
        />
        <NumberField label="That link, one way" unit="GB/s" above min={0} max={MOST_GIGA} {...number("linkGigabytes")} />
        <NumberField label="PCIe, one way" unit="GB/s" above min={0} max={MOST_GIGA} {...number("pcieGigabytes")} />
        <SelectField
          label="Kernels behave like those of"
          value={form.efficienciesOf}
          options={relatives.map((id) => ({ value: id, text: id }))}
          onChange={(efficienciesOf) => put({ efficienciesOf })}
        />
        <NumberField
          label="Price"
          unit="$ per GPU and hour, 0 for unknown"
          min={0}
          max={MOST_GPU_PRICE_USD}
          step={0.01}
          {...number("usdPerGpuHour")}
        />
        <TextField
          label="Where the figures come from"
          value={form.source}
          maxLength={500}
          placeholder="such as the maker's data sheet"
          onChange={(source) => put({ source })}
        />
      </div>
    </FormModal>
  );
}

/** Fields that the browser has: they need no library and work on every phone. */
import { NativeSelect, type NativeSelectProps, TextInput } from "@mantine/core";
import { cloneElement, type ReactElement } from "react";

interface Option {
  readonly value: string;
  readonly label: string;
}

interface SelectProps extends Pick<
  NativeSelectProps,
  "label" | "size" | "w" | "maw" | "aria-label"
> {
  readonly data: readonly (string | Option)[];
  readonly value: string;
  readonly onChange: (value: string) => void;
  readonly placeholder?: string; // what choosing nothing is called, where nothing may be chosen
}

/** A choice of a list. */
export function Select({ data, placeholder, onChange, ...rest }: SelectProps) {
  const options = data.map((each) =>
    typeof each === "string" ? { value: each, label: each } : each,
  );
  const nothing = placeholder === undefined ? [] : [{ value: "", label: placeholder }];
  return (
    <NativeSelect
      data={[...nothing, ...options]}
      onChange={(event) => onChange(event.currentTarget.value)}
      {...rest}
    />
  );
}

interface NumberFieldProps {
  readonly label: string;
  readonly min: number;
  readonly max: number;
  readonly step?: number | "any";
  readonly maw?: number;
  readonly value: number | "";
  readonly onChange: (value: number | "") => void;
}

/** A number, or nothing. The browser refuses what is out of bounds. */
export function NumberField({ value, onChange, step = 1, ...rest }: NumberFieldProps) {
  return (
    <TextInput
      type="number"
      inputMode="decimal"
      step={step}
      value={value}
      onChange={(event) => {
        const { value: typed, valueAsNumber } = event.currentTarget;
        onChange(typed === "" || Number.isNaN(valueAsNumber) ? "" : valueAsNumber);
      }}
      {...rest}
    />
  );
}

/** What something means, shown where the pointer rests on it. */
export function Tooltip(props: {
  label: string;
  children: ReactElement<{ title?: string | undefined }>;
}) {
  return cloneElement(props.children, { title: props.label || undefined });
}

/** Our own look: warm paper by day, deep ink by night, one accent. */
import { createTheme, type MantineColorsTuple } from "@mantine/core";

const iris: MantineColorsTuple = [
  "#eef0fe",
  "#dcdffb",
  "#b8bdf4",
  "#929aee",
  "#727de8",
  "#5e6ae4",
  "#4f5bd5",
  "#414cbb",
  "#3943a8",
  "#2e3894",
];
const ink: MantineColorsTuple = [
  "#e9e8ee",
  "#c9c8d3",
  "#a3a2b2",
  "#737285",
  "#474657",
  "#34333f",
  "#26252f",
  "#1b1a22",
  "#15141b",
  "#0f0e14",
];
const gray: MantineColorsTuple = [
  "#faf9f7",
  "#f3f1ee",
  "#e9e6e1",
  "#dcd8d2",
  "#c9c4bc",
  "#a8a29a",
  "#7a746d",
  "#58534e",
  "#3b3733",
  "#24211f",
];

const sans =
  'system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", "PingFang SC", "Microsoft YaHei",' +
  ' "Noto Sans CJK SC", "Apple SD Gothic Neo", "Malgun Gothic", "Noto Sans CJK KR", sans-serif';
const mono =
  'ui-monospace, "SF Mono", "JetBrains Mono", Menlo, Consolas, "DejaVu Sans Mono", monospace';

export const theme = createTheme({
  primaryColor: "iris",
  primaryShade: { light: 6, dark: 5 },
  colors: { iris, gray, dark: ink },
  fontFamily: sans,
  fontFamilyMonospace: mono,
  headings: { fontFamily: sans, fontWeight: "620" },
  defaultRadius: "md",
  cursorType: "pointer",
  focusRing: "auto",
  fontSizes: { xs: "0.75rem", sm: "0.84rem", md: "0.92rem", lg: "1.05rem", xl: "1.25rem" },
  components: {
    Button: { defaultProps: { size: "sm" } },
    Modal: { defaultProps: { centered: true, radius: "lg" } },
    Table: { defaultProps: { verticalSpacing: "sm" } },
  },
});

import react from "@vitejs/plugin-react";
import { defineConfig, type Plugin } from "vite";

const server = "http://127.0.0.1:8420"; // `accordance serve` beside `make ui-dev`

/** Dialogues ask whether they scroll by Mantine's ScrollArea, which comes whole with the question. */
const withoutScrollArea: Plugin = {
  name: "without-scroll-area",
  enforce: "pre",
  load: (id) =>
    id.endsWith("/ScrollArea/ScrollArea.mjs")
      ? "export const ScrollArea = {}; export const ScrollAreaAutosize = {};"
      : undefined,
};

export default defineConfig({
  plugins: [withoutScrollArea, react()],
  build: {
    target: "es2022",
    assetsInlineLimit: 0, // the content security policy allows no inline scripts
    modulePreload: { polyfill: false },
    emptyOutDir: true,
    chunkSizeWarningLimit: 700,
    rolldownOptions: {
      output: {
        codeSplitting: {
          groups: [
            // few large files are smaller together than many small ones
            { name: "library", test: /node_modules/ },
            { name: "page", test: /src\/(api|app|i18n|kit)\// },
          ],
        },
      },
    },
  },
  server: {
    proxy: {
      "/v1": server,
      "/auth": server,
      "/lite": server,
    },
  },
});

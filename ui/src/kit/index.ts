export * from "./code";
export * from "./keyboard";
export * from "./notes";
export * from "./panels";
export * from "./states";
export * from "./text";
export { texts } from "./texts";
export * from "./time";
export * from "./url";

export { botSandbox, type BotSandboxOptions } from './bot-sandbox.js'

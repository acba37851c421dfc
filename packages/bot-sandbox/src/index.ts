export { openBotSandbox, type BotSandbox, type BotSandboxOptions } from './bot-sandbox.js'

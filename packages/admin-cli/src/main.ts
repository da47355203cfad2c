// `npm run -s admin -- …`: the operators' command line. Exit code 0 done, 1 refused by the system, 2 not understood.
import { ConfigError } from '@almanac/service-kit/config/config';
import { ServiceError } from '@almanac/service-kit/errors';
import { helpText, type Invocation, readInvocation } from './commands.ts';
import { createOperator, OperatorError, readOperatorConfig } from './operator.ts';

process.exitCode = await main(process.argv.slice(2));

async function main(argv: string[]): Promise<number> {
  let invocation: Invocation | undefined;
  let operator: Awaited<ReturnType<typeof createOperator>> | undefined;
  try {
    invocation = readInvocation(argv);
    if (!invocation) {
      console.log(helpText());
      return 0;
    }
    if (!invocation.asksNoService) operator = await createOperator(readOperatorConfig(process.env));
    console.log(await invocation.run(operator));
    return 0;
  } catch (error) {
    if (error instanceof OperatorError || error instanceof ConfigError) {
      console.error(error.message);
      return 2;
    }
    if (error instanceof ServiceError) {
      console.error(
        [error.message, ...error.errors].filter((line, place, all) => all.indexOf(line) === place).join('\n'),
      );
      return 1;
    }
    throw error;
  } finally {
    operator?.close();
  }
}

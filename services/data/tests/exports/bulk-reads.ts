import { deploy } from '../given.ts';
import { net, useData } from '../running-data.ts';

/** Starts the service with the table 1. */
export const useTable = () =>
  useData(async () => {
    await deploy(net, [
      {
        id: 1,
        columns: [
          { name: 'id', data_type: 'integer', is_primary_key: true },
          { name: 'x', data_type: 'text' },
        ],
      },
    ]);
  });

export const lines = (text: string) => text.trimEnd().split('\n').slice(1);

/** The code of each line of an incremental read, and its key. */
export const codes = (text: string) => lines(text).map((line) => `${line.split(',')[0]}${line.split(',')[5]}`);

// What the types of the API refuse. build.sh compares the errors of the compiler with those that are named here.
import createClient from 'openapi-fetch';
import type { components, paths } from './generated/library.js';

const client = createClient<paths>();
const books = '/apis/library.example.com/v1/namespaces/{namespace}/books';
const params = { path: { namespace: 'default' } };

// A required field is missing.
// expect TS2741
const untold: components['schemas']['com.example.library.v1.BookSpec'] = { title: 'Moby-Dick' };

// A value is not one of the enumeration.
// expect TS2322
const unknown: components['schemas']['com.example.library.v1.BookSpec'] = { author: 'Melville', genre: 'Whaling' };

// A field has another name.
// expect TS2353
const misspelt: components['schemas']['com.example.library.v1.BookSpec'] = { author: 'Melville', copy: 1 };

// A number is text.
// expect TS2322
await client.POST(books, { params, body: { spec: { author: 'Melville', copies: 'three' } } });

// A parameter of the path is missing.
// expect TS2741
await client.GET(`${books}/{name}`, { params: { path: { namespace: 'default' } } });

// The API has no such path.
// expect TS2345
await client.GET('/apis/library.example.com/v1/namespaces/{namespace}/boks', { params });

export { misspelt, unknown, untold };

'use strict';
// Sends the request of the form "Try it". The API key is only in the input of this page:
// no storage, no cookie, no address contains it.
(() => {
	const form = document.getElementById('try-form');
	const byID = id => document.getElementById(id);
	form.hidden = false;

	const show = (status, text) => {
		byID('try-answer').hidden = false;
		byID('try-status').textContent = status;
		byID('try-text').textContent = text;
	};

	const request = () => {
		let path = form.dataset.path;
		const query = new URLSearchParams();
		const headers = {};
		for (const input of form.querySelectorAll('[data-place]')) {
			const { place, name } = input.dataset;
			if (place === 'path') {
				path = path.replace('{' + name + '}', encodeURIComponent(input.value));
			} else if (input.value !== '' && place === 'query') {
				query.append(name, input.value);
			} else if (input.value !== '' && place === 'header') {
				headers[name] = input.value;
			}
		}
		const key = byID('try-key');
		if (key && key.value) headers[form.dataset.header] = key.value.trim();
		let body;
		if (byID('try-body') && byID('try-body').value.trim()) {
			body = byID('try-body').value;
			headers['Content-Type'] = 'application/json';
		} else if (byID('try-file') && byID('try-file').files.length) {
			const { type } = byID('try-file').dataset;
			body = byID('try-file').files[0];
			if (type === 'multipart/form-data') {
				const parts = new FormData();
				for (const input of form.querySelectorAll('[data-place=form]')) {
					if (input.value !== '') parts.append(input.dataset.name, input.value);
				}
				parts.append('file', body);
				body = parts;
			} else {
				headers['Content-Type'] = type;
			}
		}
		const rest = query.toString();
		return [path + (rest ? '?' + rest : ''), { method: form.dataset.method, headers, body, cache: 'no-store', credentials: 'omit', redirect: 'manual' }];
	};

	form.addEventListener('submit', async event => {
		event.preventDefault();
		show('Waiting for the answer …', '');
		try {
			const started = performance.now();
			const answer = await fetch(...request());
			const type = answer.headers.get('Content-Type') || '';
			let text;
			if (type.includes('json')) {
				text = await answer.text();
				try { text = JSON.stringify(JSON.parse(text), null, 2); } catch { /* shown as it is */ }
			} else if (type.startsWith('text/') || type === '') {
				text = await answer.text();
			} else {
				text = type + ', ' + (await answer.blob()).size + ' bytes';
			}
			const id = answer.headers.get('X-Request-Id');
			show(answer.status + ' after ' + Math.round(performance.now() - started) + ' ms' + (id ? ', X-Request-Id ' + id : ''), text);
		} catch (error) {
			show('No answer', String(error));
		}
	});
})();
